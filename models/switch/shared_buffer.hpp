// The buffer of a switch: who may have how much of it, and when a lossless ingress must be paused.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "sim/check.hpp"
#include "sim/units.hpp"

namespace simverbs::fabric {

struct BufferConfig {
    static constexpr sim::ByteCount kUnlimited = std::numeric_limits<sim::ByteCount>::max() / 4;
    sim::ByteCount total = kUnlimited;
    sim::ByteCount cell = 1;         ///< packets take whole cells
    uint16_t lossless = 0;           ///< bit p: priority p is paused instead of dropped
    sim::ByteCount headroom = 0;     ///< of each (ingress port, lossless priority): for what comes after the pause
    bool is_headroom_given = false;  ///< 0 means none; else it means what the cables need, if a fabric's builder knows
    sim::ByteCount reserve = 0;      ///< of each (ingress port, priority): before it draws on the shared part
    double alpha = 1.0 / 8;          ///< a queue may have alpha times the shared bytes that are free
    sim::ByteCount xon_offset = 3 * 1024;  ///< resume that far below the threshold (the HPCC simulator's)
};

/// What becomes of an arriving packet.
enum class Admission : uint8_t { Accept, AcceptAndPause, DropFull, DropHeadroom, DropHeadroomAndPause };

/// Accounts each packet to the (ingress port, priority) that it came in by, as the memory management unit of a
/// shared-buffer switch does (the rules are those of the HPCC simulator's). Three parts: a reserve of each (port,
/// priority); a shared part under a dynamic threshold (Choudhury and Hahne, 1998): alpha times what is free of it; and
/// the headroom of each lossless (port, priority).
class SharedBuffer {
  public:
    SharedBuffer() = default;
    /// `priorities`: bit p: packets of priority p may come; each of them has its reserve.
    SharedBuffer(const BufferConfig& config, uint32_t ports, uint16_t priorities = 0xFFFF);

    /// Another alpha for one port: switches give faster ports more.
    void set_alpha(uint32_t port, double alpha);
    /// Makes room for one more priority; its dense number is the count so far.
    void add_priority(uint32_t priority);

    /// Bytes as the buffer counts them: whole cells.
    [[nodiscard]] sim::ByteCount cells(sim::ByteCount bytes) const noexcept {
        return config_.cell == 1 ? bytes : (bytes + config_.cell - 1) / config_.cell * config_.cell;
    }
    [[nodiscard]] bool lossless(uint32_t priority) const noexcept { return (config_.lossless >> priority) & 1; }

    /// A packet of `bytes` (in cells) arrives by (port, dense priority). When accepted, it is accounted for.
    [[nodiscard]] Admission admit(uint32_t port, uint32_t dense, sim::ByteCount bytes);
    /// It has left. True if the ingress was paused and may go on.
    [[nodiscard]] bool release(uint32_t port, uint32_t dense, sim::ByteCount bytes);

    /// Shared bytes that a queue of `port` may have now.
    [[nodiscard]] sim::ByteCount threshold(uint32_t port) const noexcept {
        const double share = alphas_.empty() ? config_.alpha : alphas_[port];
        return static_cast<sim::ByteCount>(static_cast<double>(shared_total_ - shared_used_) * share);
    }
    [[nodiscard]] bool paused(uint32_t port, uint32_t dense) const noexcept { return at(port, dense).paused; }
    /// Bytes that came in by (port, dense priority) and are still here.
    [[nodiscard]] sim::ByteCount used(uint32_t port, uint32_t dense) const noexcept {
        return at(port, dense).used + at(port, dense).headroom;
    }
    [[nodiscard]] sim::ByteCount used() const noexcept { return used_; }
    [[nodiscard]] sim::ByteCount max_used() const noexcept { return max_used_; }
    /// The headroom with which no (port, priority) would have dropped anything: the most that was in one together with
    /// all that was dropped since its pause began.
    [[nodiscard]] sim::ByteCount max_headroom_wanted() const noexcept { return max_headroom_wanted_; }
    /// The same of one (port, dense priority), and the bytes in its headroom now.
    [[nodiscard]] sim::ByteCount max_headroom_wanted(uint32_t port, uint32_t dense) const noexcept {
        return at(port, dense).max_wanted;
    }
    [[nodiscard]] sim::ByteCount headroom(uint32_t port, uint32_t dense) const noexcept {
        return at(port, dense).headroom;
    }
    /// What is left for the shared part; negative if the reserves and headrooms do not fit.
    [[nodiscard]] sim::ByteCount shared_total() const noexcept { return shared_total_; }
    [[nodiscard]] const BufferConfig& config() const noexcept { return config_; }
    [[nodiscard]] size_t memory() const noexcept {
        return ingress_.capacity() * sizeof(Ingress) + alphas_.capacity() * sizeof(double);
    }
    /// Asks for the memory of the accounts.
    void prefetch() const noexcept {
        for (size_t i = 0; i < ingress_.size(); i += 64 / sizeof(Ingress) + 1) __builtin_prefetch(&ingress_[i], 1);
    }
    /// Throws a failed check if the parts do not add up.
    void check() const;

  private:
    struct Ingress {
        sim::ByteCount used = 0;  ///< reserve and shared
        sim::ByteCount headroom = 0;
        sim::ByteCount max_wanted = 0;  ///< of headroom
        uint32_t lacking = 0;           ///< of headroom: dropped since the pause began, at most kMostLacking
        bool paused = false;
    };
    [[nodiscard]] Ingress& at(uint32_t port, uint32_t dense) noexcept { return ingress_[port * stride_ + dense]; }
    [[nodiscard]] const Ingress& at(uint32_t port, uint32_t dense) const noexcept {
        return ingress_[port * stride_ + dense];
    }
    static constexpr sim::ByteCount kMostLacking = std::numeric_limits<int32_t>::max();
    [[nodiscard]] static Admission drop_for_headroom(Ingress& in, sim::ByteCount bytes) noexcept;
    [[nodiscard]] sim::ByteCount shared_part(sim::ByteCount used) const noexcept {
        return std::max<sim::ByteCount>(used - config_.reserve, 0);
    }

    BufferConfig config_;
    uint32_t ports_ = 0;
    uint32_t stride_ = 0;           ///< priorities so far
    uint32_t dense_lossless_ = 0;   ///< bit d: the priority with dense number d is lossless
    std::vector<Ingress> ingress_;  ///< by port, then dense priority
    std::vector<double> alphas_;
    sim::ByteCount shared_total_ = BufferConfig::kUnlimited;
    sim::ByteCount shared_used_ = 0;
    sim::ByteCount used_ = 0;
    sim::ByteCount max_used_ = 0;
    sim::ByteCount max_headroom_wanted_ = 0;
};

// Both run once a packet that waits.
[[gnu::always_inline]] inline Admission SharedBuffer::admit(uint32_t port, uint32_t dense, sim::ByteCount bytes) {
    Ingress& in = at(port, dense);
    const sim::ByteCount more = shared_part(in.used + bytes) - shared_part(in.used);
    const sim::ByteCount limit = threshold(port);
    const bool has_headroom = ((dense_lossless_ >> dense) & 1) != 0;
    if (!has_headroom) {
        if (more > shared_total_ - shared_used_) return Admission::DropFull;
        in.used += bytes;
        shared_used_ += more;
    } else if (shared_part(in.used + bytes) <= limit && more <= shared_total_ - shared_used_) {
        in.used += bytes;
        shared_used_ += more;
    } else {
        in.max_wanted = std::max(in.max_wanted, in.headroom + in.lacking + bytes);
        max_headroom_wanted_ = std::max(max_headroom_wanted_, in.max_wanted);
        if (in.headroom + bytes > config_.headroom) [[unlikely]]
            return drop_for_headroom(in, bytes);
        in.headroom += bytes;
    }
    used_ += bytes;
    max_used_ = std::max(max_used_, used_);
    if (!has_headroom || in.paused) return Admission::Accept;
    if (in.headroom == 0 && shared_part(in.used) < threshold(port)) return Admission::Accept;
    in.paused = true;
    return Admission::AcceptAndPause;
}

[[gnu::always_inline]] inline bool SharedBuffer::release(uint32_t port, uint32_t dense, sim::ByteCount bytes) {
    Ingress& in = at(port, dense);
    const sim::ByteCount from_headroom = std::min(in.headroom, bytes);
    in.headroom -= from_headroom;
    const sim::ByteCount rest = bytes - from_headroom;
    shared_used_ -= shared_part(in.used) - shared_part(in.used - rest);
    in.used -= rest;
    used_ -= bytes;
    SIM_CHECK(in.used >= 0 && shared_used_ >= 0 && used_ >= 0, in.used, shared_used_, used_);
    if (!in.paused || in.headroom != 0) return false;
    const sim::ByteCount shared = shared_part(in.used);
    if (shared != 0 && shared + config_.xon_offset > threshold(port)) return false;
    in.paused = false;
    in.lacking = 0;
    return true;
}

}  // namespace simverbs::fabric
