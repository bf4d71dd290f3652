// Memory of a process that the server has mapped as well: large registered ranges, shared by the client through memfds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace simverbs::server {

/// The segments of one address space, by address; they do not overlap. What the process says is checked, and a file
/// that it could shrink under the mapping (SIGBUS) is refused.
class LiveSegments {
  public:
    static constexpr uint64_t kMostBytes = uint64_t{1} << 30;  ///< of one segment
    static constexpr size_t kMost = 256;                       ///< segments of one space

    LiveSegments() = default;
    LiveSegments(LiveSegments&& other) noexcept : segments_(std::move(other.segments_)) { other.segments_.clear(); }
    LiveSegments& operator=(LiveSegments&& other) noexcept;
    LiveSegments(const LiveSegments&) = delete;
    LiveSegments& operator=(const LiveSegments&) = delete;
    ~LiveSegments() { clear(); }

    /// Maps the first `length` bytes of the file for [va, va + length). It takes the place of segments that overlap.
    bool add(uint32_t id, uint64_t va, uint64_t length, int memfd);
    /// The same for a file of our own, of any size, where nothing else lies; until it is removed.
    bool add_own(uint64_t va, uint64_t length, int memfd);
    void remove_own(uint64_t va);
    bool hold(uint32_t id);
    /// The last release unmaps it.
    void release(uint32_t id);
    void forget(uint32_t id);
    void forget_others(uint64_t va, uint64_t length, uint32_t id);
    void clear();
    [[nodiscard]] size_t size() const noexcept { return segments_.size(); }

    /// The first `length` bytes from an address: shared (`bytes` is where) or all not shared (null).
    struct Part {
        uint8_t* bytes = nullptr;
        uint64_t length = 0;
    };
    /// `wanted` > 0 and va + wanted does not wrap around; the part is at most as long.
    [[nodiscard]] Part part_at(uint64_t va, uint64_t wanted) const noexcept;

  private:
    struct Segment {
        uint64_t va = 0, length = 0;
        uint8_t* base = nullptr;
        uint32_t id = 0, holders = 0;
    };
    [[nodiscard]] Segment* find(uint32_t id) noexcept;
    template <class Which>
    void remove(Which&& which);

    std::vector<Segment> segments_;
};

/// As DMA writes: a program that polls the last bytes of a message finds all the others in place once it sees them.
void copy_as_dma(uint8_t* to, const uint8_t* from, uint64_t bytes) noexcept;

}  // namespace simverbs::server
