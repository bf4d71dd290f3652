// Packets that wait, kept as runs: most of a queue are packets of a few flows, alike but for their numbers.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "models/wire/packet.hpp"
#include "sim/check.hpp"
#include "sim/chunk_fifo.hpp"

namespace simverbs::fabric {

/// The packets in the queues of one switch. A queue holds one number for each packet: that of its run, and whether it
/// is marked. A run is packets of one queue that differ in the third of their four words alone (PSN and flags, MSN and
/// syndrome), each by the same from the one before, marks apart. It is kept as its first packet and that difference; a
/// packet like no other is a run of its own.
class PacketRuns {
  public:
    using Run = uint32_t;

    PacketRuns() = default;
    /// `flows`: about as many as wait at once.
    explicit PacketRuns(uint32_t flows) : recent_(std::bit_ceil(std::max(flows / kWays, 1U))) {}

    [[nodiscard]] static bool is_marked(Run run) noexcept { return (run & 1) != 0; }

    static constexpr Run kNone = sim::ChunkFifo::kNone;

    /// The number of the run that now ends with `packet`, whose `arrival` means what the caller likes. `last`: what
    /// this returned for the packet before it in the queue; kNone if none waits there.
    [[gnu::always_inline]] Run add(const wire::Packet& packet, sim::SimTime arrival, uint32_t queue, Run last) {
        Words words = std::bit_cast<Words>(packet);
        words[0] = static_cast<uint64_t>(arrival.in_ps());
        const auto mark = static_cast<uint32_t>(words[2] >> kMarkBit) & 1;
        words[2] &= ~(uint64_t{1} << kMarkBit);
        // Most queues are short, and need no more memory than this.
        if (last == kNone) return begin(words, queue) << 1 | mark;
        if (continues(entries_[last >> 1], words, queue)) return (last & ~1U) | mark;
        Ways& ways = recent_[(packet.dest * 0x9E3779B1U + packet.flow_hash * 0x85EBCA6BU) >> 16 & (recent_.size() - 1)];
        for (const uint32_t index : ways)
            if (continues(entries_[index], words, queue)) return index << 1 | mark;
        return begin_among(words, queue, ways) << 1 | mark;
    }
    /// The first packet of a run, as if it were not marked.
    [[nodiscard]] const wire::Packet& front(Run run) const noexcept { return entries_[run >> 1].packet; }
    /// The first packet of a run is gone.
    [[gnu::always_inline]] void next(Run run) noexcept {
        Entry& e = entries_[run >> 1];
        if (--e.count == 0) {
            e.queue = free_;
            free_ = run >> 1;
            return;
        }
        // Only this word: the whole packet has just been read in other pieces, and would be waited for.
        std::byte* const third = reinterpret_cast<std::byte*>(&e.packet) + 2 * sizeof(uint64_t);
        uint64_t word = 0;
        std::memcpy(&word, third, sizeof word);
        word += e.difference;
        std::memcpy(third, &word, sizeof word);
    }
    void prefetch(Run run) const noexcept {
        if (run != kNone) __builtin_prefetch(&entries_[run >> 1], 1);
    }
    /// Asks for what the next run that begins will need.
    void prefetch() const noexcept { __builtin_prefetch(&entries_[free_], 1); }
    [[nodiscard]] size_t memory() const noexcept {
        return entries_.capacity() * sizeof(Entry) + recent_.capacity() * sizeof(Ways);
    }

  private:
    using Words = std::array<uint64_t, 4>;
    static constexpr uint32_t kWays = 4;
    struct Entry {
        wire::Packet packet;
        uint64_t difference = 0;
        uint32_t count = 0;  ///< of its packets that still wait; 0: unused
        uint32_t queue = 0;  ///< that they wait in; of an unused entry: the next unused one
    };
    static_assert(sizeof(Entry) == 48);
    /// Entries of runs that a packet may belong to. Those that have ended stay until others come.
    using Ways = std::array<uint32_t, kWays>;
    static constexpr unsigned kMarkBit = 27;  ///< of the third word: wire::kFecn among the flags
#ifndef __clang__                             // which cannot see through bit fields in constant expressions
    static_assert([] {
        wire::Packet marked{}, unmarked{};
        marked.flags = wire::kFecn;
        return std::bit_cast<Words>(marked)[2] == (std::bit_cast<Words>(unmarked)[2] | uint64_t{1} << kMarkBit);
    }());
#endif

    /// Does a packet continue this run? Then it is counted.
    [[gnu::always_inline]] static bool continues(Entry& e, const Words& words, uint32_t queue) noexcept {
        if (e.count == 0 || e.queue != queue) return false;
        const Words first = std::bit_cast<Words>(e.packet);
        if (first[0] != words[0] || first[1] != words[1] || first[3] != words[3]) return false;
        if (e.count == 1)
            e.difference = words[2] - first[2];
        else if (first[2] + e.count * e.difference != words[2])
            return false;
        ++e.count;
        return true;
    }
    [[gnu::always_inline]] uint32_t begin(const Words& words, uint32_t queue) {
        if (free_ == kNoEntry) [[unlikely]]
            add_entry();
        const uint32_t index = free_;
        Entry& e = entries_[index];
        free_ = e.queue;
        e.packet = std::bit_cast<wire::Packet>(words);
        e.count = 1;
        e.queue = queue;
        return index;
    }
    [[gnu::noinline]] uint32_t begin_among(const Words& words, uint32_t queue, Ways& ways) {
        // In place of a run that has ended, or else of the oldest.
        uint32_t* place = std::ranges::find_if(ways, [&](uint32_t index) { return entries_[index].count == 0; });
        if (place == ways.end()) --place;
        const uint32_t index = begin(words, queue);
        std::copy_backward(ways.data(), place, place + 1);
        ways[0] = index;
        return index;
    }
    [[gnu::cold, gnu::noinline]] void add_entry() {
        SIM_CHECK(entries_.size() < kNone >> 1, entries_.size());
        if (entries_.size() == entries_.capacity()) entries_.reserve(entries_.size() + entries_.size() / 2 + 3);
        free_ = static_cast<uint32_t>(entries_.size());
        entries_.emplace_back().queue = kNoEntry;
    }

    static constexpr uint32_t kNoEntry = 0;
    std::vector<Entry> entries_{1};  ///< the first one is never used
    std::vector<Ways> recent_{1};    ///< by hash of the flow
    uint32_t free_ = kNoEntry;
};

}  // namespace simverbs::fabric
