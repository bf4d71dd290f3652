#include "models/switch/shared_buffer.hpp"

#include <bit>
#include <utility>

namespace simverbs::fabric {

/// The shared part is what reserves and headrooms leave, whether or not they are used.
SharedBuffer::SharedBuffer(const BufferConfig& config, uint32_t ports, uint16_t priorities)
    : config_(config), ports_(ports), shared_total_(config.total) {
    if (config_.total >= BufferConfig::kUnlimited) return;
    const sim::ByteCount with_headroom = std::popcount(static_cast<uint16_t>(config_.lossless & priorities));
    const sim::ByteCount with_reserve = std::popcount(priorities);
    shared_total_ -= ports_ * (with_headroom * config_.headroom + with_reserve * config_.reserve);
}

void SharedBuffer::set_alpha(uint32_t port, double alpha) {
    if (alphas_.empty()) alphas_.assign(ports_, config_.alpha);
    alphas_[port] = alpha;
}

void SharedBuffer::add_priority(uint32_t priority) {
    const size_t before = stride_;
    std::vector<Ingress> wider(size_t{ports_} * (before + 1));
    for (size_t port = 0; port < ports_; ++port)
        for (size_t d = 0; d < before; ++d) wider[port * (before + 1) + d] = ingress_[port * before + d];
    ingress_ = std::move(wider);
    if (lossless(priority)) dense_lossless_ |= 1U << stride_;
    ++stride_;
}

/// A headroom that cannot take one packet is exceeded at once: that pauses too, where something waits whose leaving can
/// end the pause.
[[gnu::cold]] Admission SharedBuffer::drop_for_headroom(Ingress& in, sim::ByteCount bytes) noexcept {
    const bool begins = !in.paused && in.used > 0;
    in.paused = in.paused || begins;
    if (in.paused) in.lacking = static_cast<uint32_t>(std::min<sim::ByteCount>(in.lacking + bytes, kMostLacking));
    return begins ? Admission::DropHeadroomAndPause : Admission::DropHeadroom;
}

void SharedBuffer::check() const {
    sim::ByteCount used = 0, shared = 0;
    for (const Ingress& in : ingress_) {
        SIM_CHECK(in.used >= 0 && in.headroom >= 0 && in.headroom <= config_.headroom, in.used, in.headroom);
        used += in.used + in.headroom;
        shared += shared_part(in.used);
    }
    SIM_CHECK(used == used_ && shared == shared_used_, used, used_, shared, shared_used_);
    SIM_CHECK(shared_used_ <= shared_total_ && max_used_ <= config_.total, shared_used_, shared_total_, max_used_);
}

}  // namespace simverbs::fabric
