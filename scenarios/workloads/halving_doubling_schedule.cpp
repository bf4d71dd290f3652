#include <bit>
#include <vector>

#include "scenarios/workloads/collective_schedule.hpp"

namespace simverbs::scenarios::workloads {

namespace {

/// The ranks that take part in the halving, and who waits for whom.
struct FoldedRanks {
    explicit FoldedRanks(uint32_t ranks) : active(std::bit_floor(ranks)), excess(ranks - active) {}
    /// Rank of the i-th active one: of the first 2 x excess ranks the odd ones are active.
    [[nodiscard]] Rank rank_of(uint32_t i) const { return i < excess ? 2 * i + 1 : i + excess; }

    uint32_t active;
    uint32_t excess;
};

/// A loop over `folded.active` pieces from `first_piece` on.
class HalvingDoubling {
  public:
    HalvingDoubling(ScheduleBuilder& builder, const FoldedRanks& folded, uint32_t lane, uint32_t first_piece)
        : builder_(builder), folded_(folded), lane_(lane), first_piece_(first_piece), arrived_(folded.active) {}

    void add() {
        fold();
        for (uint32_t distance = folded_.active / 2; distance > 0; distance /= 2)
            exchange(distance, TransferKind::Reduce);
        for (uint32_t distance = 1; distance < folded_.active; distance *= 2) exchange(distance, TransferKind::Copy);
        unfold();
    }

  private:
    void fold() {
        for (uint32_t i = 0; i < folded_.excess; ++i) {
            arrived_[i].push_back(
                builder_.send(lane_, 2 * i, 2 * i + 1, first_piece_, folded_.active, TransferKind::Reduce));
        }
    }
    void unfold() {
        for (uint32_t i = 0; i < folded_.excess; ++i) {
            builder_.send(lane_, 2 * i + 1, 2 * i, first_piece_, folded_.active, TransferKind::Copy, arrived_[i]);
        }
    }
    /// Halving: i sends to i ^ distance the half of its block that the other keeps. Doubling: its whole block. A block
    /// at `distance` has `distance` pieces and begins at i rounded down to a multiple of `distance`.
    /// What has to have arrived is all that came so far: a later block is made of all the earlier ones.
    void exchange(uint32_t distance, TransferKind kind) {
        std::vector<TransferIndex> received(folded_.active);
        for (uint32_t i = 0; i < folded_.active; ++i) {
            const uint32_t peer = i ^ distance;
            const uint32_t owner = kind == TransferKind::Reduce ? peer : i;
            const uint32_t block = owner - owner % distance;
            received[peer] = builder_.send(lane_, folded_.rank_of(i), folded_.rank_of(peer), first_piece_ + block,
                                           distance, kind, arrived_[i]);
        }
        for (uint32_t i = 0; i < folded_.active; ++i) arrived_[i].push_back(received[i]);
    }

    ScheduleBuilder& builder_;
    const FoldedRanks& folded_;
    uint32_t lane_;
    uint32_t first_piece_;
    std::vector<std::vector<TransferIndex>> arrived_;  ///< at each active rank
};

}  // namespace

CollectiveSchedule halving_doubling_all_reduce(const CollectiveShape& shape) {
    ScheduleBuilder builder(shape.ranks, shape.slots);
    const FoldedRanks folded(shape.ranks);
    for (uint32_t channel = 0; channel < shape.channels; ++channel) {
        const sim::ByteCount bytes = part_of(shape.bytes, shape.channels, channel);
        // The first message of a loop is its half; with folding, the whole.
        const sim::ByteCount loop_bytes = shape.chunk_bytes * (folded.excess > 0 ? 1 : 2);
        const auto loops = static_cast<uint32_t>((bytes + loop_bytes - 1) / loop_bytes);
        for (uint32_t loop = 0; loop < loops; ++loop) {
            const uint32_t first_piece = builder.add_pieces(part_of(bytes, loops, loop), folded.active);
            HalvingDoubling(builder, folded, channel, first_piece).add();
        }
    }
    return std::move(builder).finish();
}

}  // namespace simverbs::scenarios::workloads
