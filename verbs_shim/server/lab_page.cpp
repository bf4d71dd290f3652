#include "verbs_shim/server/lab_page.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <stdexcept>

namespace simverbs::server {

namespace {
/// Every program gets the descriptor: nobody may take pages away below the others.
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
}  // namespace

SharedMemory::SharedMemory(const char* name, uint64_t bytes)
    : fd_(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING)), size_(bytes) {
    if (!fd_.valid() || ::ftruncate(fd_.get(), static_cast<off_t>(bytes)) != 0 ||
        ::fcntl(fd_.get(), F_ADD_SEALS, kSeals) != 0)
        throw std::runtime_error(fmt::format("cannot make shared memory: {}", std::strerror(errno)));
    void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd_.get(), 0);
    if (at == MAP_FAILED) throw std::runtime_error(fmt::format("cannot map shared memory: {}", std::strerror(errno)));
    data_ = static_cast<uint8_t*>(at);
}

SharedMemory::~SharedMemory() {
    ::munmap(data_, size_);
}

// The memory is fresh, hence zero, which is what every member of LabShared starts with but three; constructing the
// object would touch all of its megabytes.
LabPage::LabPage()
    : memory_("simverbs-lab", sizeof(protocol::LabShared)),
      shared_(std::launder(reinterpret_cast<protocol::LabShared*>(memory_.data()))) {
    shared_->magic = protocol::kMagic;
    shared_->version = protocol::kProtocolVersion;
    shared_->layout_hash = protocol::layout_hash();
}

}  // namespace simverbs::server
