// Messages back to back between two hosts, as perftest sends them.
#pragma once

#include <cstdint>

#include "scenarios/workloads/workload_common.hpp"

namespace simverbs::scenarios::workloads {

enum class PerftestKind {
    Bandwidth,  ///< like ib_write_bw: up to tx_depth messages in flight a QP
    Latency     ///< like ib_write_lat: a message, its answer, the next message
};

/// As many messages as `iterations` says, or, if that is 0, as fit into `duration` at `rate`.
struct PerftestParameters {
    WorkloadCommon common;
    PerftestKind kind = PerftestKind::Bandwidth;
    flow::HostIndex src = 0;
    flow::HostIndex dst = 0;
    sim::ByteCount message_bytes = 65536;  ///< perftest's default of the bandwidth programs
    int64_t iterations = 1000;             ///< messages a QP; perftest's default is 5000 (bandwidth) or 1000 (latency)
    sim::SimTime duration;                 ///< counts if iterations is 0
    sim::BitRate rate;                     ///< of the sender's link; counts if iterations is 0
    int64_t tx_depth = 128;                ///< perftest's default
    int64_t qps = 1;
    bool is_bidirectional = false;  ///< Bandwidth: dst sends as much to src at the same time
};

/// Bandwidth: message i of a QP starts when message i - tx_depth has been acknowledged. Latency: message i starts when
/// the answer to i - 1 has arrived.
[[nodiscard]] Problems append_perftest(flow::FlowPlan& plan, const PerftestParameters& parameters);

}  // namespace simverbs::scenarios::workloads
