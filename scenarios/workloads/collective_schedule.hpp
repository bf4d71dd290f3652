// Who sends which piece of the buffer to whom, and after what: a collective operation before it becomes flows.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "models/flow/flow_plan.hpp"
#include "sim/units.hpp"

namespace simverbs::scenarios::workloads {

using Rank = uint32_t;
using TransferIndex = uint32_t;

enum class TransferKind : uint8_t {
    Reduce,  ///< the receiver adds what arrives to what it has
    Copy     ///< what arrives takes the place of what the receiver has
};

/// One message: pieces [first_piece, first_piece + pieces) of the sender's buffer.
struct Transfer {
    Rank from = 0;
    Rank to = 0;
    sim::ByteCount bytes = 0;
    uint32_t first_piece = 0;
    uint32_t pieces = 0;
    TransferKind kind = TransferKind::Copy;
};

/// One execution of a collective. Every dependency points from a lower to a higher index (so there is no cycle) and
/// obeys flow::FlowDependency.
struct CollectiveSchedule {
    std::vector<sim::ByteCount> piece_bytes;
    std::vector<Transfer> transfers;
    std::vector<flow::FlowDependency> dependencies;
    /// Of each rank: the transfers that it sends and that wait for no other that it sends. If they start after a
    /// moment, all that it sends does.
    std::vector<std::vector<TransferIndex>> first_sends;
    /// Of each rank: when these have arrived, all that it receives has.
    std::vector<std::vector<TransferIndex>> last_receives;
};

/// Builds a schedule. A connection (lane, sender, receiver) has `slots` chunks in flight: its transfer i waits for the
/// acknowledgement of its transfer i - slots.
class ScheduleBuilder {
  public:
    ScheduleBuilder(uint32_t ranks, uint32_t slots) : ranks_(ranks), slots_(slots) {}

    /// Cuts `bytes` into `count` pieces that differ by at most one byte; returns the first's number.
    uint32_t add_pieces(sim::ByteCount bytes, uint32_t count);
    /// What a rank sends waits for the transfers `after`, which it received or sent. `lane` tells connections apart.
    TransferIndex send(uint32_t lane, Rank from, Rank to, uint32_t first_piece, uint32_t pieces, TransferKind kind,
                       std::span<const TransferIndex> after = {});
    [[nodiscard]] uint32_t ranks() const noexcept { return ranks_; }
    [[nodiscard]] CollectiveSchedule finish() &&;

  private:
    uint32_t ranks_;
    uint32_t slots_;
    CollectiveSchedule schedule_;
    std::map<std::tuple<uint32_t, Rank, Rank>, std::vector<TransferIndex>> connections_;
};

/// `bytes` from `first_byte` on, cut into parts that differ by at most one byte; the first ones are the larger ones.
[[nodiscard]] sim::ByteCount part_of(sim::ByteCount bytes, uint32_t parts, uint32_t index);

/// How a buffer is cut: into `channels` parts, and each into loops of at most ranks x chunk_bytes (tree: chunk_bytes).
struct CollectiveShape {
    uint32_t ranks = 0;
    sim::ByteCount bytes = 0;  ///< whole buffer (all-gather, reduce-scatter: all shards)
    uint32_t channels = 1;
    sim::ByteCount chunk_bytes = 0;  ///< largest message
    uint32_t slots = 1;
};

/// Ring: in each step every rank sends one shard to the next rank, the one that it received in the step before. After
/// the reduce-scatter rank r owns shard r of each loop; the all-gather begins with that.
[[nodiscard]] CollectiveSchedule ring_all_reduce(const CollectiveShape& shape);
[[nodiscard]] CollectiveSchedule ring_reduce_scatter(const CollectiveShape& shape);
[[nodiscard]] CollectiveSchedule ring_all_gather(const CollectiveShape& shape);

/// Two binary trees, each for half of every channel (Sanders, Speck, Träff 2009): a rank that is a leaf in the one is
/// (nearly always) inside the other. Reduced up to the root, copied down, chunk after chunk.
[[nodiscard]] CollectiveSchedule tree_all_reduce(const CollectiveShape& shape);

/// Parent of `rank` in tree 0 or 1; its own number at the root.
[[nodiscard]] Rank tree_parent(Rank rank, uint32_t ranks, uint32_t tree);

/// Recursive halving, then recursive doubling (Rabenseifner 2004). If the number of ranks is no power of two, the
/// first 2 x excess ranks pair up before and after, and one of each pair waits.
[[nodiscard]] CollectiveSchedule halving_doubling_all_reduce(const CollectiveShape& shape);

/// Each rank sends 1/ranks of its buffer to each other, in rounds: to r+1, r+2, …. A rank has `peers_at_once` peers in
/// flight in each channel (0: all). Every piece of the buffer is sent by one rank to one other.
[[nodiscard]] CollectiveSchedule exchange_all_to_all(const CollectiveShape& shape, uint32_t peers_at_once);

}  // namespace simverbs::scenarios::workloads
