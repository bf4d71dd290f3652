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
    const size_t before = priorities_.size();
    std::vector<Ingress> wider(size_t{ports_} * (before + 1));
    for (size_t port = 0; port < ports_; ++port)
        for (size_t d = 0; d < before; ++d) wider[port * (before + 1) + d] = ingress_[port * before + d];
    ingress_ = std::move(wider);
    priorities_.push_back(priority);
}

Admission SharedBuffer::admit(uint32_t port, uint32_t dense, sim::ByteCount bytes) {
    Ingress& in = at(port, dense);
    const sim::ByteCount more = shared_part(in.used + bytes) - shared_part(in.used);
    const sim::ByteCount limit = threshold(port);
    const bool has_headroom = lossless(priorities_[dense]);
    if (!has_headroom) {
        if (more > shared_total_ - shared_used_) return Admission::DropFull;
        in.used += bytes;
        shared_used_ += more;
    } else if (shared_part(in.used + bytes) <= limit && more <= shared_total_ - shared_used_) {
        in.used += bytes;
        shared_used_ += more;
    } else {
        in.max_wanted = std::max(in.max_wanted, in.headroom + bytes);
        max_headroom_wanted_ = std::max(max_headroom_wanted_, in.max_wanted);
        if (in.headroom + bytes > config_.headroom) return Admission::DropHeadroom;
        in.headroom += bytes;
    }
    used_ += bytes;
    max_used_ = std::max(max_used_, used_);
    if (!has_headroom || in.paused) return Admission::Accept;
    if (in.headroom == 0 && shared_part(in.used) < threshold(port)) return Admission::Accept;
    in.paused = true;
    return Admission::AcceptAndPause;
}

bool SharedBuffer::release(uint32_t port, uint32_t dense, sim::ByteCount bytes) {
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
    return true;
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
