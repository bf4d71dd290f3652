// Names of hosts, ports and links as a scenario writes them. The nodes of a generated fabric exist only when it is
// built, so that names stay text here; what can be checked before has been checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/lang/diagnostic.hpp"

namespace simverbs::scenarios {

/// A host ("h3"), a host's port ("h3.mlx5_0/1"), a switch ("tor0") or a switch's port ("tor0/5").
struct PlaceRef {
    std::string text;
    std::string path;
    SourcePosition position;
};

/// A link by one of its ends, or by both: "tor0/1", "tor0/1 - agg0/2".
struct LinkRef {
    PlaceRef a;
    std::optional<PlaceRef> b;
};

/// Some hosts: all of them, so many (the first ones of all that come into question), or these.
struct HostSet {
    bool is_all = true;
    int64_t count = 0;            ///< 0: no number is given
    std::vector<PlaceRef> hosts;  ///< ranges "h0..h15" are spelled out
    std::string path;
    SourcePosition position;
};

}  // namespace simverbs::scenarios
