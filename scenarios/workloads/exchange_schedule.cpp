#include <algorithm>
#include <span>
#include <vector>

#include "scenarios/workloads/collective_schedule.hpp"

namespace simverbs::scenarios::workloads {

namespace {

/// What a rank sent to one peer, as far as it matters to who waits for all of it: the last `slots` transfers.
using SentToPeer = std::vector<TransferIndex>;

/// All that `from` sends to `to` in a channel.
SentToPeer add_pair(ScheduleBuilder& builder, const CollectiveShape& shape, uint32_t channel, Rank from, Rank to,
                    std::span<const TransferIndex> after) {
    const sim::ByteCount pair_bytes = part_of(shape.bytes, shape.ranks, to);
    const sim::ByteCount bytes = part_of(pair_bytes, shape.channels, channel);
    const auto chunks = static_cast<uint32_t>((bytes + shape.chunk_bytes - 1) / shape.chunk_bytes);
    const uint32_t first_piece = builder.add_pieces(bytes, chunks);
    SentToPeer sent;
    for (uint32_t i = 0; i < chunks; ++i) {
        // Later chunks wait for earlier ones of the same connection.
        const auto awaited = i < shape.slots ? after : std::span<const TransferIndex>();
        sent.push_back(builder.send(channel, from, to, first_piece + i, 1, TransferKind::Copy, awaited));
    }
    if (sent.size() > shape.slots) sent.erase(sent.begin(), sent.end() - shape.slots);
    return sent;
}

}  // namespace

CollectiveSchedule exchange_all_to_all(const CollectiveShape& shape, uint32_t peers_at_once) {
    ScheduleBuilder builder(shape.ranks, shape.slots);
    const uint32_t n = shape.ranks;
    for (uint32_t channel = 0; channel < shape.channels; ++channel) {
        std::vector<std::vector<SentToPeer>> rounds;  // [round - 1][rank]
        for (uint32_t round = 1; round < n; ++round) {
            std::vector<SentToPeer> sent(n);
            for (Rank r = 0; r < n; ++r) {
                const bool has_to_wait = peers_at_once > 0 && round > peers_at_once;
                const auto after = has_to_wait ? std::span<const TransferIndex>(rounds[round - 1 - peers_at_once][r])
                                               : std::span<const TransferIndex>();
                sent[r] = add_pair(builder, shape, channel, r, (r + round) % n, after);
            }
            rounds.push_back(std::move(sent));
        }
    }
    return std::move(builder).finish();
}

}  // namespace simverbs::scenarios::workloads
