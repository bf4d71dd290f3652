// Topology generators: the wiring of a lab from a word.
#pragma once

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
    /// Adds switches and cables to the hosts that `reading.lab` has; reports what it cannot wire. nullptr: explicit.
    void (*generate)(LabReading& reading, const Section& section) = nullptr;
};

/// Every generator, in the manual's order.
[[nodiscard]] std::span<const TopologyGenerator> topology_generators() noexcept;

/// Reads `topology` (nullptr if absent; `has_links`: the lab has a key `links`) and runs the generator. False if the
/// lab is explicit, that is, the links are still to be read as they are.
bool generate_topology(LabReading& reading, const YamlValue* node, const std::string& path, bool has_links);

}  // namespace simverbs::scenarios
