#include "verbs_shim/server/gpu/gpu_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

namespace simverbs::server {

GpuMemory::GpuMemory(LiveMemory& live, host::AddressSpaceId space, uint32_t gpu, uint64_t bytes)
    : live_(&live), space_(space), gpu_(gpu), bytes_(bytes), ranges_(bytes, kGrain) {
    live.add_device_space(space);
}

std::shared_ptr<GpuBlock> GpuMemory::make_block(const Client& owner, uint64_t bytes) {
    rlimit limit{};
    (void)::getrlimit(RLIMIT_NOFILE, &limit);
    constexpr rlim_t kShare = 4;  // of all descriptors, at most, for one client
    if (*owner.held_descriptors >= limit.rlim_cur / kShare || bytes > bytes_) return nullptr;
    const uint64_t length = (bytes + kGrain - 1) / kGrain * kGrain;
    UniqueFd file(::memfd_create("simverbs-gpu", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!file.valid() || ::ftruncate(file.get(), static_cast<off_t>(length)) != 0) return nullptr;
    (void)::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    const auto at = ranges_.take(length);
    if (!at) return nullptr;
    if (!live_->add_device_block(space_, *at, length, file.get())) {
        ranges_.give(*at, length);
        return nullptr;
    }
    return std::make_shared<GpuBlock>(shared_from_this(), *at, length, std::move(file),
                                      HeldDescriptor(owner.held_descriptors));
}

GpuBlock::~GpuBlock() {
    if (memory_->mover_ != nullptr) memory_->mover_->settle_all(memory_->space_);
    memory_->live_->remove_device_block(memory_->space_, at_);
    memory_->ranges_.give(at_, bytes_);
}

UniqueFd GpuBlock::file() const {
    return UniqueFd(::fcntl(file_.get(), F_DUPFD_CLOEXEC, 0));
}

}  // namespace simverbs::server
