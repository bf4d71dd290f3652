#include "models/wire/packet_extra.hpp"

namespace simverbs::wire {

PacketPool::PacketPool(unsigned shards, PayloadStreams* streams)
    : streams_(streams), shards_(shards), slabs_(new std::unique_ptr<PacketExtra[]>[kMaxSlabs]) {}

PacketPool::~PacketPool() = default;

Packet PacketPool::duplicate(unsigned shard, const Packet& packet) {
    Packet copy = packet;
    if (packet.extra == kNoExtra) return copy;
    copy.extra = allocate(shard);
    PacketExtra& extra = (*this)[copy.extra];
    extra = (*this)[packet.extra];
    if (extra.payload.stream != kNoStream && streams_ != nullptr) streams_->retain(extra.payload.stream);
    return copy;
}

uint64_t PacketPool::in_use() const noexcept {
    uint64_t taken = 0;
    uint64_t given = 0;
    for (const Shard& s : shards_) {
        taken += s.taken;
        given += s.given;
    }
    return taken - given;
}

void PacketPool::refill(Shard& shard) {
    const std::scoped_lock lock(mutex_);
    if (!common_free_.empty()) {
        // Donations come kSlab at a time.
        shard.free.insert(shard.free.end(), common_free_.end() - kSlab, common_free_.end());
        common_free_.resize(common_free_.size() - kSlab);
        return;
    }
    SIM_CHECK(slab_count_ < kMaxSlabs, slab_count_);
    slabs_[slab_count_] = std::make_unique<PacketExtra[]>(kSlab);
    if (carries_int_) int_slabs_[slab_count_] = std::make_unique<IntStack[]>(kSlab);
    for (uint32_t i = kSlab; i-- > 0;) shard.free.push_back(slab_count_ * kSlab + i);
    ++slab_count_;
}

void PacketPool::donate(Shard& shard) {
    const std::scoped_lock lock(mutex_);
    common_free_.insert(common_free_.end(), shard.free.end() - kSlab, shard.free.end());
    shard.free.resize(shard.free.size() - kSlab);
}

}  // namespace simverbs::wire
