#include <bit>
#include <vector>

#include "scenarios/workloads/collective_schedule.hpp"

namespace simverbs::scenarios::workloads {

namespace {

constexpr uint32_t kTrees = 2;

/// Parent in the tree in which rank 0 is the root and a rank's lowest set bit is its height: ranks with an odd number
/// are leaves. Where the regular parent does not exist (n is no power of two), the next lower ancestor takes its place.
Rank in_order_parent(Rank rank, uint32_t ranks) {
    if (rank == 0) return 0;
    const uint32_t height = rank & (~rank + 1);
    const Rank above = (rank ^ height) | (height << 1);
    return above < ranks ? above : rank ^ height;
}

/// One of the two trees: for each rank its parent and children, and the ranks from the leaves up.
struct BinaryTree {
    std::vector<Rank> parent;
    std::vector<std::vector<Rank>> children;
    std::vector<Rank> leaves_first;
    Rank root = 0;
};

BinaryTree make_tree(uint32_t ranks, uint32_t which) {
    BinaryTree tree;
    tree.parent.resize(ranks);
    tree.children.resize(ranks);
    for (Rank r = 0; r < ranks; ++r) {
        tree.parent[r] = tree_parent(r, ranks, which);
        if (tree.parent[r] == r) {
            tree.root = r;
        } else {
            tree.children[tree.parent[r]].push_back(r);
        }
    }
    tree.leaves_first.push_back(tree.root);
    for (std::size_t i = 0; i < tree.leaves_first.size(); ++i) {
        for (const Rank child : tree.children[tree.leaves_first[i]]) tree.leaves_first.push_back(child);
    }
    std::vector<Rank> reversed(tree.leaves_first.rbegin(), tree.leaves_first.rend());
    tree.leaves_first = std::move(reversed);
    return tree;
}

/// One chunk up to the root and down again.
void add_tree_chunk(ScheduleBuilder& builder, const BinaryTree& tree, uint32_t lane, uint32_t piece) {
    std::vector<std::vector<TransferIndex>> arrived(builder.ranks());
    for (const Rank rank : tree.leaves_first) {
        if (rank == tree.root) continue;
        const Rank up = tree.parent[rank];
        arrived[up].push_back(builder.send(lane, rank, up, piece, 1, TransferKind::Reduce, arrived[rank]));
    }
    std::vector<std::vector<TransferIndex>> came_down(builder.ranks());
    came_down[tree.root] = arrived[tree.root];
    for (auto rank = tree.leaves_first.rbegin(); rank != tree.leaves_first.rend(); ++rank) {
        for (const Rank child : tree.children[*rank]) {
            came_down[child] = {builder.send(lane, *rank, child, piece, 1, TransferKind::Copy, came_down[*rank])};
        }
    }
}

}  // namespace

Rank tree_parent(Rank rank, uint32_t ranks, uint32_t tree) {
    if (tree == 0) return in_order_parent(rank, ranks);
    // Mirrored if that turns leaves (odd) into inner ranks (even), else shifted by one.
    if (ranks % 2 == 0) return ranks - 1 - in_order_parent(ranks - 1 - rank, ranks);
    return (in_order_parent((rank + ranks - 1) % ranks, ranks) + 1) % ranks;
}

CollectiveSchedule tree_all_reduce(const CollectiveShape& shape) {
    ScheduleBuilder builder(shape.ranks, shape.slots);
    const std::vector<BinaryTree> trees{make_tree(shape.ranks, 0), make_tree(shape.ranks, 1)};
    for (uint32_t channel = 0; channel < shape.channels; ++channel) {
        for (uint32_t which = 0; which < kTrees; ++which) {
            const uint32_t lane = channel * kTrees + which;
            const sim::ByteCount bytes = part_of(shape.bytes, shape.channels * kTrees, lane);
            const auto chunks = static_cast<uint32_t>((bytes + shape.chunk_bytes - 1) / shape.chunk_bytes);
            const uint32_t first_piece = chunks == 0 ? 0 : builder.add_pieces(bytes, chunks);
            for (uint32_t i = 0; i < chunks; ++i) add_tree_chunk(builder, trees[which], lane, first_piece + i);
        }
    }
    return std::move(builder).finish();
}

}  // namespace simverbs::scenarios::workloads
