// How a scenario's network is wired: by a generator of whole fabrics, or as LabSpec has it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/lang/lab_spec.hpp"
#include "scenarios/lang/place_ref.hpp"
#include "scenarios/lang/values.hpp"

namespace simverbs::scenarios {

/// A cable of a generated fabric that has other properties than the rest.
struct LinkAdjustment {
    LinkRef link;
    LinkSpec properties;  ///< without ends
};

struct TopologySpec {
    std::string kind;        ///< "fat_tree"; see topology_generators()
    bool is_fabric = false;  ///< still to be generated from `values`; else LabSpec has every host, switch and link
    Values values;           ///< the generator's keys

    // Of a fabric only:
    HostSpec host;                            ///< what each of its hosts is like; its NIC stands for every one
    SwitchSpec switch_;                       ///< what each of its switches is like; LabSpec::switches has exceptions
    LinkSpec link;                            ///< what each of its cables is like, where `values` does not say
    std::vector<LinkAdjustment> adjustments;  ///< cables that differ
    std::optional<int64_t> host_count;        ///< absent where a file says it

    std::string path;
    SourcePosition position;
};

}  // namespace simverbs::scenarios
