#include "models/host/payload_mover.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace simverbs::host {
namespace {

using sim::SimTime;

class Memory final : public HostMemory {
  public:
    std::map<AddressSpaceId, std::vector<uint8_t>> spaces;
    bool read(AddressSpaceId s, uint64_t va, std::span<uint8_t> out) override {
        ++calls;
        if (!spaces.contains(s) || va + out.size() > spaces[s].size()) return false;
        std::copy_n(spaces[s].begin() + static_cast<std::ptrdiff_t>(va), out.size(), out.begin());
        return true;
    }
    bool write(AddressSpaceId s, uint64_t va, std::span<const uint8_t> in) override {
        ++calls;
        if (!spaces.contains(s) || va + in.size() > spaces[s].size()) return false;
        std::ranges::copy(in, spaces[s].begin() + static_cast<std::ptrdiff_t>(va));
        return true;
    }
    bool copy(AddressSpaceId from, uint64_t from_va, AddressSpaceId to, uint64_t to_va, uint64_t n) override {
        std::vector<uint8_t> bytes(n);
        --calls;
        return read(from, from_va, bytes) && write(to, to_va, bytes);
    }
    int calls = 0;
};

/// The same DMA, byte for byte at its own time.
struct Naive {
    struct Write {
        SimTime at;
        AddressSpaceId space;
        uint64_t va;
        std::vector<uint8_t> bytes;
    };
    std::map<AddressSpaceId, std::vector<uint8_t>> spaces;
    std::vector<Write> pending;

    /// What the adapter reads: memory, and its own writes that programs cannot see yet.
    std::vector<uint8_t> read(AddressSpaceId space, uint64_t va, uint64_t n) const {
        std::vector<uint8_t> out(spaces.at(space).begin() + static_cast<std::ptrdiff_t>(va),
                                 spaces.at(space).begin() + static_cast<std::ptrdiff_t>(va + n));
        for (const Write& w : pending)
            for (size_t i = 0; w.space == space && i < w.bytes.size(); ++i)
                if (w.va + i >= va && w.va + i < va + n) out[w.va + i - va] = w.bytes[i];
        return out;
    }
    void show(AddressSpaceId space, SimTime t) {
        std::erase_if(pending, [&](const Write& w) {
            if (w.space != space || w.at > t) return false;
            std::ranges::copy(w.bytes, spaces[space].begin() + static_cast<std::ptrdiff_t>(w.va));
            return true;
        });
    }
};

struct Coalescing : testing::TestWithParam<int> {};

/// Messages from space to space, cut into packets, in flight together, over overlapping memory, while programs run and
/// scribble: at every turn of a program it sees what per-packet DMA would have shown it.
TEST_P(Coalescing, CannotBeToldFromPacketByPacket) {
    constexpr uint64_t kBytes = 6000;
    std::mt19937 rng(static_cast<unsigned>(GetParam()));
    const auto below = [&](uint64_t n) { return rng() % n; };
    Memory memory;
    Naive naive;
    for (AddressSpaceId s = 1; s <= 3; ++s) {
        memory.spaces[s].resize(kBytes);
        for (auto& b : memory.spaces[s]) b = static_cast<uint8_t>(rng());
    }
    naive.spaces = memory.spaces;
    PayloadMover mover(memory);
    struct Flow {
        StreamId stream;
        std::vector<MemoryRange> source;
        AddressSpaceId to;
        uint64_t to_va, length, read = 0, written = 0;
        std::vector<uint8_t> bytes;
    };
    std::vector<Flow> flows;
    SimTime now;
    for (int step = 0; step < 3000; ++step) {
        now += SimTime::ns(static_cast<int64_t>(below(5)));
        const uint64_t what = below(10);
        if (what == 0 && flows.size() < 6) {
            Flow f;
            f.length = 0;
            for (uint64_t i = 0; i <= below(3); ++i) {
                const uint64_t n = 1 + below(700);
                f.source.push_back({static_cast<AddressSpaceId>(1 + below(3)), below(kBytes - n), n});
                f.length += n;
            }
            f.to = static_cast<AddressSpaceId>(1 + below(3));
            f.to_va = below(kBytes - f.length);
            f.stream = mover.open(f.source);
            flows.push_back(f);
        } else if (what < 5 && !flows.empty()) {
            Flow& f = flows[below(flows.size())];
            const uint64_t upto = std::min(f.length, f.read + 1 + below(200));
            ASSERT_TRUE(mover.dma_read(f.stream, upto));
            uint64_t at = 0;
            std::vector<uint8_t> fresh;
            for (const MemoryRange& r : f.source) {
                const uint64_t low = std::max(f.read, at), high = std::min(upto, at + r.length);
                if (low < high) {
                    const auto part = naive.read(r.space, r.va + (low - at), high - low);
                    fresh.insert(fresh.end(), part.begin(), part.end());
                }
                at += r.length;
            }
            f.bytes.insert(f.bytes.end(), fresh.begin(), fresh.end());
            f.read = upto;
        } else if (what < 8 && !flows.empty()) {
            const size_t i = below(flows.size());
            Flow& f = flows[i];
            const uint64_t n = std::min(f.read - f.written, 1 + below(250));
            if (n > 0) {
                const SimTime visible = now + SimTime::ns(20);
                std::vector<uint8_t> peeked(n);
                ASSERT_TRUE(mover.peek(f.stream, f.written, peeked));
                EXPECT_TRUE(
                    std::equal(peeked.begin(), peeked.end(), f.bytes.begin() + static_cast<std::ptrdiff_t>(f.written)));
                mover.dma_write(f.stream, f.written, n, f.to, f.to_va + f.written, visible);
                naive.pending.push_back({visible,
                                         f.to,
                                         f.to_va + f.written,
                                         {f.bytes.begin() + static_cast<std::ptrdiff_t>(f.written),
                                          f.bytes.begin() + static_cast<std::ptrdiff_t>(f.written + n)}});
                f.written += n;
            }
            if (f.written == f.length) {
                mover.release(f.stream);
                flows.erase(flows.begin() + static_cast<std::ptrdiff_t>(i));
            }
        } else if (what == 8) {
            const auto space = static_cast<AddressSpaceId>(1 + below(3));
            mover.before_turn(space, now);
            naive.show(space, now);
            ASSERT_EQ(memory.spaces[space], naive.spaces[space]) << "step " << step;
            const uint64_t at = below(kBytes - 300);
            for (uint64_t i = 0; i < 300; ++i)
                memory.spaces[space][at + i] = naive.spaces[space][at + i] = static_cast<uint8_t>(rng());
        }
    }
    for (const Flow& f : flows) mover.release(f.stream);
    for (AddressSpaceId s = 1; s <= 3; ++s) {
        mover.before_turn(s, SimTime::max());
        naive.show(s, SimTime::max());
    }
    EXPECT_EQ(memory.spaces, naive.spaces);
    EXPECT_EQ(mover.open_streams(), 0U);
}
INSTANTIATE_TEST_SUITE_P(Seeds, Coalescing, testing::Range(1, 41));

struct Mover : testing::Test {
    Mover() : mover(memory) {
        memory.spaces[1].resize(1 << 20, 7);
        memory.spaces[2].resize(1 << 20);
    }
    void move(uint64_t bytes, uint64_t packet) {
        const MemoryRange source{1, 0, bytes};
        const StreamId s = mover.open(std::span(&source, 1));
        for (uint64_t at = 0; at < bytes; at += packet) {
            mover.dma_read(s, at + packet);
            mover.dma_write(s, at, packet, 2, at, SimTime::ns(static_cast<int64_t>(at)));
        }
        mover.release(s);
    }
    Memory memory;
    PayloadMover mover;
};

TEST_F(Mover, AMessageIsCopiedOnce) {
    move(256 << 10, 4096);
    EXPECT_EQ(memory.calls, 0);
    mover.before_turn(2, SimTime::max());
    EXPECT_EQ(mover.stats().direct_copies, 1U);
    EXPECT_EQ(mover.stats().staged_bytes, 0U);
    EXPECT_EQ(memory.spaces[2][(256 << 10) - 1], 7);
}

TEST_F(Mover, AProgramSeesOnlyWhatIsDue) {
    move(16384, 4096);
    EXPECT_EQ(mover.next_visible(2), SimTime::zero());
    mover.before_turn(2, SimTime::ns(4096));
    EXPECT_EQ(memory.spaces[2][8191], 7);
    EXPECT_EQ(memory.spaces[2][8192], 0);
    EXPECT_EQ(mover.next_visible(2), SimTime::ns(8192));
}

TEST_F(Mover, ADeadReceiverDropsWrites_ADeadSenderFailsReads) {
    move(4096, 4096);
    mover.space_gone(2);
    move(4096, 4096);
    EXPECT_EQ(mover.open_streams(), 0U);
    mover.space_gone(1);
    const MemoryRange source{1, 0, 64};
    const StreamId s = mover.open(std::span(&source, 1));
    EXPECT_FALSE(mover.dma_read(s, 64));
    mover.release(s);
}

TEST_F(Mover, ADuplicatedPacketKeepsItsBytes) {
    const MemoryRange source{1, 0, 64};
    const StreamId s = mover.open(std::span(&source, 1));
    mover.dma_read(s, 64);
    mover.retain(s);
    mover.dma_write(s, 0, 64, 2, 0, SimTime::zero());
    mover.before_turn(2, SimTime::ns(1));
    std::fill_n(memory.spaces[1].begin(), 64, uint8_t{1});
    mover.dma_write(s, 0, 64, 2, 100, SimTime::ns(2));
    mover.before_turn(2, SimTime::ns(3));
    EXPECT_EQ(memory.spaces[2][100], 7);
    mover.release(s);
    mover.release(s);
    EXPECT_EQ(mover.open_streams(), 0U);
}

}  // namespace
}  // namespace simverbs::host
