#include "verbs_shim/server/lab_block.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>

namespace simverbs::server {

namespace {

/// Blocks belong to the machine, not to a user: their locks lie where everybody looks.
constexpr char kLockFolder[] = "/tmp/simverbs-blocks";
/// sun_path holds 108 bytes; the folder gets "/lab-255/control" behind it.
constexpr size_t kLongestBase = 80;
/// A lab makes hundreds of small files: in memory they cost microseconds, on a disk's file system up to seconds.
constexpr char kMemoryFolder[] = "/dev/shm";

void make_folder(const std::string& path, mode_t mode) {
    if (::mkdir(path.c_str(), mode) == 0) {
        ::chmod(path.c_str(), mode);  // not subject to the umask
        return;
    }
    if (errno != EEXIST) throw std::runtime_error(fmt::format("cannot make {}: {}", path, std::strerror(errno)));
}

bool is_in_memory(const char* path) {
    struct statfs fs {};
    return ::statfs(path, &fs) == 0 && fs.f_type == TMPFS_MAGIC && ::access(path, W_OK | X_OK) == 0;
}

/// Somebody else's folder of our name, or a link: refuse to put sockets there.
void check_private(const std::string& path) {
    struct stat st {};
    if (::lstat(path.c_str(), &st) != 0 || !S_ISDIR(st.st_mode) || st.st_uid != ::geteuid())
        throw std::runtime_error(fmt::format("{} is not a folder of this user", path));
}

/// The lock of a block, taken; invalid if somebody has it.
UniqueFd lock_block(const std::string& path) {
    UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!fd.valid() && errno == ENOENT) {
        // The last lab that ended may have removed the folder between our mkdir and now.
        make_folder(kLockFolder, 01777);
        fd = UniqueFd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    }
    if (!fd.valid() || ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) return UniqueFd{};
    struct stat ours {
    }, named{};
    if (::fstat(fd.get(), &ours) != 0 || ::stat(path.c_str(), &named) != 0 || ours.st_ino != named.st_ino)
        return UniqueFd{};
    return fd;
}

std::string lock_path_of(uint32_t block) {
    return fmt::format("{}/{}", kLockFolder, block);
}

/// Removes the folders of labs that were killed: nobody holds their locks.
void remove_dead_labs(const std::string& base, uint32_t own_block) {
    std::error_code error;
    std::filesystem::directory_iterator entry(base, error);
    for (; !error && entry != std::filesystem::directory_iterator{}; entry.increment(error)) {
        unsigned block = 0;
        if (std::sscanf(entry->path().filename().c_str(), "lab-%u", &block) != 1 || block == own_block) continue;
        const std::string path = lock_path_of(block);
        const UniqueFd lock = lock_block(path);
        if (!lock.valid()) continue;
        std::error_code ignored;
        std::filesystem::remove_all(entry->path(), ignored);
        ::unlink(path.c_str());  // while locked, as below
    }
}

}  // namespace

std::string LabBlock::base_folder() {
    const char* runtime = std::getenv("XDG_RUNTIME_DIR");
    if (runtime != nullptr && runtime[0] == '/' && std::strlen(runtime) < kLongestBase &&
        ::access(runtime, W_OK | X_OK) == 0)
        return std::string(runtime) + "/simverbs";
    return fmt::format("{}/simverbs-{}", is_in_memory(kMemoryFolder) ? kMemoryFolder : "/tmp", ::geteuid());
}

LabBlock::LabBlock(uint32_t preferred) {
    make_folder(kLockFolder, 01777);
    const std::string base = base_folder();
    constexpr uint32_t kCount = kLast - kFirst + 1;
    const uint32_t start = preferred >= kFirst && preferred <= kLast ? preferred - kFirst : 0;
    for (uint32_t i = 0; i < kCount; ++i) {
        if (try_block(kFirst + (start + i) % kCount)) break;
    }
    if (block_ == 0) throw std::runtime_error("all address blocks 127.16/16 … 127.254/16 are taken by other labs");
    folder_ = fmt::format("{}/lab-{}", base, block_);
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);  // of a lab that died: we hold its lock
    // The last lab that ended may remove the base folder in between.
    for (int tries = 0; ::access(folder_.c_str(), F_OK) != 0 && tries < 100; ++tries) {
        make_folder(base, 0700);
        check_private(base);
        if (::mkdir(folder_.c_str(), 0700) == 0 || errno != ENOENT) break;
    }
    make_folder(folder_, 0700);
    check_private(folder_);
    remove_dead_labs(base, block_);
}

LabBlock::~LabBlock() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
    ::unlink(lock_path_.c_str());  // while locked: whoever opened it meanwhile sees that its inode has no name
    lock_.reset();
    ::rmdir(base_folder().c_str());  // only if it is empty
    ::rmdir(kLockFolder);
}

bool LabBlock::try_block(uint32_t block) {
    const std::string path = lock_path_of(block);
    UniqueFd fd = lock_block(path);
    if (!fd.valid()) return false;
    lock_ = std::move(fd);
    lock_path_ = path;
    block_ = block;
    return true;
}

}  // namespace simverbs::server
