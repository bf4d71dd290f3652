// What the readers of a lab's parts share while one lab is read. Internal to scenarios/lang.
#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "scenarios/lang/diagnostic.hpp"
#include "scenarios/lang/lab_loader.hpp"
#include "scenarios/lang/lab_spec.hpp"
#include "scenarios/lang/platform.hpp"
#include "scenarios/lang/scenario_spec.hpp"
#include "scenarios/lang/section.hpp"

namespace simverbs::scenarios {

/// One host, NIC or switch as it is written in any of the forms "a number", "a list", "a map".
struct NamedPart {
    std::string name;  ///< "" where the file gives none
    SourcePosition name_position;
    const YamlValue* node = nullptr;  ///< its map, or a Null
    std::string path;
};

/// How the parts of one kind may be written.
struct PartsRule {
    std::string_view shape;     ///< for messages
    std::string_view name_key;  ///< the key that names a part in a list
    int64_t most = 0;
    bool number_allowed = true;
};

/// Reads a number, a list or a map of parts. Parts whose names are not names are reported and left out.
[[nodiscard]] std::vector<NamedPart> read_named_parts(const PartsRule& rule, const YamlValue& value,
                                                      const std::string& path, DiagnosticSink& sink);

struct TopologyGenerator;

/// What a file that is being read may say.
enum class LanguageLevel {
    Lab,       ///< hosts and cables that programs run on
    Scenario,  ///< everything
};

/// A lab, or the static part of a scenario, while it is read. The Sections are the templates that every NIC, switch and
/// link inherits from.
struct LabReading {
    const LabOptions& options;
    DiagnosticSink& sink;
    LanguageLevel level = LanguageLevel::Lab;
    LabSpec lab;
    TopologySpec topology;
    std::string path;
    const Section* nic_template = nullptr;
    const Section* switch_template = nullptr;
    const Section* link_template = nullptr;
    const YamlValue* platform_node = nullptr;  ///< of every host that names none
    std::string platform_path;
    /// By the node that says them; null after a report.
    std::unordered_map<const YamlValue*, std::shared_ptr<const Platform>> platforms;
    LinkSpec default_link;           ///< the properties of a cable about which the file says nothing
    std::size_t errors_before = 0;   ///< of the sink, before this lab
    bool names_are_complete = true;  ///< no host, NIC or switch was dropped because it was wrong
    bool templates_are_wrong = false;
    bool insides_are_complete = true;  ///< no host is without its platform because that was wrong
    bool has_wiring = true;            ///< hosts, switches and cables are as the file means them (check_lab finds out)
    SourcePosition position;           ///< of the lab as a whole: of what the file does not write
    std::string topology_path;
    SourcePosition topology_position;
    const TopologyGenerator* generator = nullptr;            ///< nullptr after a report
    YamlPtr topology_node;                                   ///< `topology` as a map with `kind`
    std::unordered_map<std::string, LinkEnd> nodes_by_name;  ///< see index_names

    /// Adds a switch with the template's properties unless the file has one of that name; its index.
    int add_switch(std::string_view name);
    /// Fills nodes_by_name when all hosts and switches are known; of equal names the first counts.
    void index_names();
    /// Adds a cable with the template's properties.
    void add_link(const LinkEnd& a, const LinkEnd& b);
};

void read_hosts(LabReading& reading, const YamlValue* node, const std::string& path);
/// What every host of a fabric is like.
void read_fabric_host(LabReading& reading, const Section& section);
void read_nics(LabReading& reading, HostSpec& host, const YamlValue* node, const std::string& path);
void read_switches(LabReading& reading, const YamlValue& node, const std::string& path);

/// Everything static: hosts, switches, links, topology. nullopt if the section's map is none.
void read_lab_parts(LabReading& reading, const Section& section);

/// A switch as the template has it.
[[nodiscard]] SwitchSpec read_template_switch(const LabReading& reading);
[[nodiscard]] SwitchQueueing read_queueing(const Section& section, DiagnosticSink& sink);
/// Where the file writes `key`, here or in a section that this one inherits from.
[[nodiscard]] KeyPlace place_of(const Section& section, std::string_view key);
/// What a switch has that does not say: Spectrum-2, Quantum.
[[nodiscard]] sim::SimTime default_switch_latency(LinkLayer layer) noexcept;

/// The largest DSCP: six bits.
inline constexpr int kMostDscp = 63;

/// A map from whole numbers to whole numbers.
struct NumberMapRule {
    std::string_view shape;  ///< for messages
    int64_t most_key = 0;
    int64_t least_value = 0;
    int64_t most_value = 0;
};
[[nodiscard]] NumberPairs read_number_map(const NumberMapRule& rule, const YamlValue& node, const std::string& path,
                                          DiagnosticSink& sink);

/// Rate, length and faults of a link.
[[nodiscard]] LinkSpec read_link_properties(const LabReading& reading, const Section& section);
[[nodiscard]] std::vector<FaultSpec> read_faults(const YamlValue& node, const std::string& path, DiagnosticSink& sink);

/// Reports keys that only a scenario may have, if a lab is being read.
void refuse_in_lab(const LabReading& reading, const Section& section, std::initializer_list<std::string_view> keys);

/// The cables of an explicit topology.
void read_explicit_links(LabReading& reading, const YamlValue& node, const std::string& path);
/// Changes cables that a generator has made.
void adjust_generated_links(LabReading& reading, const YamlValue& node, const std::string& path);

/// An end of a link as written, its port still open if it is 0.
[[nodiscard]] std::optional<LinkEnd> read_link_end(const LabReading& reading, std::string_view text,
                                                   const SourcePosition& position, const std::string& path);

/// The properties of single cables of a fabric.
void read_fabric_links(LabReading& reading, const YamlValue& node, const std::string& path);

/// A link by one or both of its ends, "tor0/1 - agg0/2"; nullopt after a report.
[[nodiscard]] std::optional<LinkRef> read_link_ref(const LabReading& reading, std::string_view text,
                                                   const SourcePosition& position, const std::string& path);
/// Reports a place ("h3", "h3.mlx5_0/1", "tor0/5") that does not exist as far as can be known; true if all is well.
bool check_place(const LabReading& reading, const PlaceRef& place);

/// A file that a scenario names, relative to the file that names it, as a path that can be opened. Reports one that
/// does not exist.
[[nodiscard]] std::string read_file_name(std::string_view text, const SourcePosition& position, const std::string& path,
                                         DiagnosticSink& sink);

/// Everything that only the lab as a whole can get wrong; completes what follows from it (ports, link layers).
void check_lab(LabReading& reading);

/// The `shape` of a Structure key, for messages.
[[nodiscard]] std::string_view expected_shape(const ComponentSchema& schema, std::string_view key);

}  // namespace simverbs::scenarios
