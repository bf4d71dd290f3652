#include <algorithm>
#include <vector>

#include "scenarios/workloads/collective_schedule.hpp"

namespace simverbs::scenarios::workloads {

namespace {

/// What a step of a ring waits for: the arrival, at each rank, of the step before.
using RingStep = std::vector<TransferIndex>;

/// One step: rank r sends piece first + (r + shift) mod n to r + 1. `arrived[r]` is what r received in the step before;
/// becomes what it receives in this one.
void add_ring_step(ScheduleBuilder& builder, uint32_t lane, uint32_t first_piece, uint32_t shift, TransferKind kind,
                   RingStep& arrived) {
    const uint32_t n = builder.ranks();
    RingStep next(n);
    for (Rank r = 0; r < n; ++r) {
        const uint32_t piece = first_piece + (r + shift) % n;
        const auto after = arrived.empty() ? std::span<const TransferIndex>() : std::span(&arrived[r], 1);
        next[(r + 1) % n] = builder.send(lane, r, (r + 1) % n, piece, 1, kind, after);
    }
    arrived = std::move(next);
}

/// Rank r starts with shard r - 1, so that shard r is complete at r at the end.
void add_reduce_scatter(ScheduleBuilder& builder, uint32_t lane, uint32_t first_piece, RingStep& arrived) {
    const uint32_t n = builder.ranks();
    for (uint32_t step = 0; step + 1 < n; ++step) {
        add_ring_step(builder, lane, first_piece, n - 1 - step, TransferKind::Reduce, arrived);
    }
}

void add_all_gather(ScheduleBuilder& builder, uint32_t lane, uint32_t first_piece, RingStep& arrived) {
    const uint32_t n = builder.ranks();
    for (uint32_t step = 0; step + 1 < n; ++step) {
        add_ring_step(builder, lane, first_piece, (n - step) % n, TransferKind::Copy, arrived);
    }
}

/// Calls `add(builder, lane, first piece)` for each loop of each channel.
template <class Add>
CollectiveSchedule for_each_ring_loop(const CollectiveShape& shape, Add add) {
    ScheduleBuilder builder(shape.ranks, shape.slots);
    for (uint32_t channel = 0; channel < shape.channels; ++channel) {
        const sim::ByteCount bytes = part_of(shape.bytes, shape.channels, channel);
        const sim::ByteCount loop_bytes = shape.chunk_bytes * shape.ranks;
        const auto loops = static_cast<uint32_t>((bytes + loop_bytes - 1) / loop_bytes);
        for (uint32_t loop = 0; loop < loops; ++loop) {
            add(builder, channel, builder.add_pieces(part_of(bytes, loops, loop), shape.ranks));
        }
    }
    return std::move(builder).finish();
}

}  // namespace

CollectiveSchedule ring_all_reduce(const CollectiveShape& shape) {
    return for_each_ring_loop(shape, [](ScheduleBuilder& builder, uint32_t lane, uint32_t first_piece) {
        RingStep arrived;
        add_reduce_scatter(builder, lane, first_piece, arrived);
        add_all_gather(builder, lane, first_piece, arrived);
    });
}

CollectiveSchedule ring_reduce_scatter(const CollectiveShape& shape) {
    return for_each_ring_loop(shape, [](ScheduleBuilder& builder, uint32_t lane, uint32_t first_piece) {
        RingStep arrived;
        add_reduce_scatter(builder, lane, first_piece, arrived);
    });
}

CollectiveSchedule ring_all_gather(const CollectiveShape& shape) {
    return for_each_ring_loop(shape, [](ScheduleBuilder& builder, uint32_t lane, uint32_t first_piece) {
        RingStep arrived;
        add_all_gather(builder, lane, first_piece, arrived);
    });
}

}  // namespace simverbs::scenarios::workloads
