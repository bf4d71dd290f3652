// Lines and records of an ibnetdiscover file, before they make a fabric.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/import/text_lines.hpp"

namespace simverbs::scenarios::imports {

/// One line of a port.
struct IbPortRecord {
    uint32_t port = 0;
    std::string peer;  ///< "S-0002c9020046c588"
    uint32_t peer_port = 0;
    uint16_t lid = 0;  ///< of this port (channel adapters only)
    sim::BitRate rate;
    SourcePosition place;
};

/// One node.
struct IbNodeRecord {
    std::string guid;  ///< with its letter: "H-…", "S-…"
    bool is_switch = false;
    uint32_t ports = 0;
    std::string description;
    uint16_t lid = 0;  ///< switches only
    std::vector<IbPortRecord> links;
    SourcePosition place;
};

/// The file's nodes in its order. Problems go to `sink`.
[[nodiscard]] std::vector<IbNodeRecord> read_ib_records(std::string_view text, std::string_view file,
                                                        DiagnosticSink& sink);

}  // namespace simverbs::scenarios::imports
