// Topology generators: the wiring of a lab from a word.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "scenarios/lang/lab_reading.hpp"
#include "scenarios/lang/schema.hpp"
#include "scenarios/lang/section.hpp"

namespace simverbs::scenarios {

/// One row of the registry. To add a generator: a function, a schema of its keys, a row in topology_generators().
struct TopologyGenerator {
    /// Kind in the file; its schema also holds the key `kind`.
    std::string_view kind;
    const ComponentSchema* schema = nullptr;
    /// Adds switches and cables to the hosts that `reading.lab` has; reports what it cannot wire. nullptr: explicit,
    /// or a fabric.
    void (*generate)(LabReading& reading, const Section& section) = nullptr;
    /// Of a fabric, which brings its own hosts and is built later from the section's values: how many hosts it has;
    /// nullopt where a file says it, or after a report of what contradicts itself.
    std::optional<int64_t> (*count_hosts)(const Section& section, DiagnosticSink& sink) = nullptr;

    [[nodiscard]] bool is_fabric() const noexcept { return count_hosts != nullptr; }
};

/// Every generator, in the manual's order.
[[nodiscard]] std::span<const TopologyGenerator> topology_generators() noexcept;
/// Those of whole fabrics.
[[nodiscard]] std::span<const TopologyGenerator> fabric_generators() noexcept;
/// The schema of each generator.
[[nodiscard]] std::span<const ComponentSchema* const> topology_schemas() noexcept;

/// Reads which topology `node` (nullptr if absent; `has_links`: the lab has a key `links`) asks for.
void choose_topology(LabReading& reading, const YamlValue* node, const std::string& path, bool has_links);
/// Runs the chosen generator. False if the lab is explicit, that is, the links are still to be read as they are.
bool generate_topology(LabReading& reading);

}  // namespace simverbs::scenarios
