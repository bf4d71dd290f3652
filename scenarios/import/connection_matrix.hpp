// Connection matrices of htsim (files .cm, .tm).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "models/flow/flow_plan.hpp"
#include "scenarios/lang/diagnostic.hpp"

namespace simverbs::scenarios::imports {

struct ConnectionMatrix {
    uint32_t nodes = 0;   ///< hosts
    flow::FlowPlan plan;  ///< of one group
};

/// Reads
///     Nodes N
///     Connections M
///     Triggers T                                             (if there are any)
///     SRC->DST [id I] start PS | trigger I, size BYTES [send_done_trigger I] [recv_done_trigger I] [prio P]
///     trigger id I oneshot | multishot | barrier count C
/// A trigger becomes dependencies. oneshot: of one flow that fires it. barrier: of all that fire it, `count` of them.
/// multishot: the n-th flow that fires it starts the n-th that waits for it (there, the n-th to finish does). A trigger
/// that a host could not know of (FlowDependency) is a problem, and so are flows without an end (size 0) and failures.
[[nodiscard]] std::optional<ConnectionMatrix> read_connection_matrix(std::string_view text, std::string_view file,
                                                                     std::string_view group, DiagnosticSink& sink);

}  // namespace simverbs::scenarios::imports
