// What the readers of a scenario's parts share while one run of it is read. Internal to scenarios/lang.
#pragma once

#include <string>
#include <vector>

#include "scenarios/lang/lab_reading.hpp"
#include "scenarios/lang/scenario_loader.hpp"
#include "scenarios/lang/scenario_spec.hpp"
#include "scenarios/lang/section.hpp"

namespace simverbs::scenarios {

struct ScenarioReading {
    const ScenarioOptions& options;
    LabReading& network;  ///< already read
    ScenarioSpec& spec;
    DiagnosticSink& sink;
    /// Every workload or fault has been understood as far as its name; else unknown names are not reported.
    bool workload_names_are_complete = true;
    bool fault_names_are_complete = true;
    bool program_names_are_complete = true;
    std::vector<ExpectationSpec> names_of_wrong_expectations{};  ///< ScenarioDraft's
};

void read_transport(ScenarioReading& reading, const Section& scenario);
void read_cc(ScenarioReading& reading, const Section& scenario);
void read_workloads(ScenarioReading& reading, const Section& scenario);
void read_programs(ScenarioReading& reading, const Section& scenario);
void read_addressed_faults(ScenarioReading& reading, const Section& scenario);
/// The map `inner` of a fault that stands at no link; `fault.kind` is known. After the programs, whose names it knows.
void read_fault_without_link(ScenarioReading& reading, const Section& inner, AddressedFaultSpec& fault);
/// After workloads and faults, whose names it knows.
void read_expectations(ScenarioReading& reading, const Section& scenario);
void read_outputs(ScenarioReading& reading, const Section& scenario);
void read_run(ScenarioReading& reading, const Section& scenario);

/// The items of a list at `key`; none after a report of another shape.
[[nodiscard]] std::vector<YamlPtr> read_list(const Section& section, std::string_view key, DiagnosticSink& sink);
/// The place that the text at `key` names, checked as far as can be; nullopt if absent or wrong.
/// What degrade_slot says.
void read_degraded_slot(ScenarioReading& reading, const Section& inner, AddressedFaultSpec& fault);
[[nodiscard]] std::optional<PlaceRef> read_place(const ScenarioReading& reading, const Section& section,
                                                 std::string_view key);
/// The same for a host alone.
[[nodiscard]] std::optional<PlaceRef> read_host_ref(const ScenarioReading& reading, const Section& section,
                                                    std::string_view key);
/// One place or a list of them.
[[nodiscard]] std::vector<PlaceRef> read_places(const ScenarioReading& reading, const Section& section,
                                                std::string_view key);
/// All, a number, hosts and ranges; absent: all.
[[nodiscard]] HostSet read_host_set(const ScenarioReading& reading, const Section& section, std::string_view key);
/// Reports a host that does not exist as far as can be known.
bool check_host(const ScenarioReading& reading, const PlaceRef& host);
/// How many hosts the scenario has, if that is known.
[[nodiscard]] std::optional<int64_t> host_count(const ScenarioReading& reading);

/// Reads a statement such as "fct.slowdown.p99 of websearch < 10"; nullopt after a report. `position` is that of the
/// statement's first character.
[[nodiscard]] std::optional<ExpectationSpec> parse_expectation(ScenarioReading& reading, std::string_view text,
                                                               const SourcePosition& position, const std::string& path);

/// Reports a regular expression (ECMAScript) that is none.
void check_pattern(const Section& section, std::string_view key, DiagnosticSink& sink);

}  // namespace simverbs::scenarios
