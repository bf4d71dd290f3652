// Collective operations as NCCL runs them: channels, chunks, rings and trees.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "scenarios/workloads/collective_schedule.hpp"
#include "scenarios/workloads/workload_common.hpp"

namespace simverbs::scenarios::workloads {

enum class CollectiveKind {
    RingAllReduce,
    TreeAllReduce,
    HalvingDoublingAllReduce,
    RingAllGather,
    RingReduceScatter,
    AllToAll
};

struct CollectiveParameters {
    WorkloadCommon common;
    CollectiveKind kind = CollectiveKind::RingAllReduce;
    std::vector<flow::HostIndex> ranks;  ///< host of each rank; empty: rank r is host r
    /// The buffer that nccl-tests calls "size": all-gather and reduce-scatter count all shards, all-to-all all that a
    /// rank has for everybody, itself included.
    sim::ByteCount bytes = 0;
    uint32_t channels = 1;
    sim::ByteCount chunk_bytes = 524'288;  ///< largest message: NCCL's 4 MiB buffer of a connection has 8 steps
    uint32_t slots = 8;                    ///< chunks in flight on a connection (NCCL_STEPS)
    uint32_t peers_at_once = 8;            ///< all-to-all: peers to which a rank sends at the same time; 0: all
    uint32_t iterations = 1;
};

/// The schedule of one iteration; the parameters must be right. `host_count` counts if `ranks` is empty.
[[nodiscard]] CollectiveSchedule collective_schedule(const CollectiveParameters& parameters);

/// Flow i x transfers + t of the workload is transfer t of iteration i. A rank begins an iteration when it has received
/// everything of the one before.
[[nodiscard]] Problems append_collective(flow::FlowPlan& plan, const CollectiveParameters& parameters);

/// "ring_all_reduce", …
[[nodiscard]] std::string_view to_string(CollectiveKind kind) noexcept;
[[nodiscard]] std::optional<CollectiveKind> collective_kind(std::string_view name) noexcept;

/// nccl-tests: busbw is the algorithm's bandwidth (bytes / time) times this.
[[nodiscard]] double bus_bandwidth_factor(CollectiveKind kind, uint32_t ranks) noexcept;

}  // namespace simverbs::scenarios::workloads
