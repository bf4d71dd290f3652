// What the parts of client/memory share: the table of memfds that lie in this process's memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "verbs_shim/client/memory/own_maps.hpp"
#include "verbs_shim/client/verbs/lock.hpp"

namespace simverbs::client::memory {

/// One memfd; byte x of it lay at begin + x when it was made. The program may have unmapped or moved it since.
struct Segment {
    uint32_t id = 0;  ///< 0: free entry
    uint32_t registrations = 0;
    uint32_t copies = 0;  ///< how often the same memory was copied into a new memfd
    uintptr_t begin = 0, end = 0;
    uint64_t device = 0, inode = 0;
};

extern verbs::Lock g_lock;  ///< over everything below
constexpr uint32_t kMaxSegments = 256;
extern Segment g_segments[kMaxSegments];
/// True once a segment was made: until then the interposed calls have nothing to look at.
extern std::atomic<bool> any_segments;

/// The segment that the mapping belongs to, wherever it lies; null if it is not ours.
Segment* segment_of(const Mapping& mapping);
/// What of the mapping lies in [begin, end) and belongs to a segment.
struct Piece {
    uintptr_t begin, end;
};
bool piece_of(const Mapping& mapping, uintptr_t begin, uintptr_t end, Piece& out);

/// True if no other thread of this process can run meanwhile.
bool alone();
/// True if replacing [begin, end) of the mapping `m` by a shared one changes nothing for the program. `before` is the
/// mapping with the next lower address.
bool can_be_shared(const Mapping& m, const Mapping& before, uintptr_t begin, uintptr_t end);

/// Makes fork() give the child copies from now on.
bool copy_at_fork();
/// In the child: all its memory is its own, and nothing of it is registered.
void forget_registrations();

/// For its scope no signal handler of this thread runs.
class NoSignals {
  public:
    NoSignals();
    ~NoSignals();
    NoSignals(const NoSignals&) = delete;
    NoSignals& operator=(const NoSignals&) = delete;

  private:
    uint64_t before_ = 0;
};

}  // namespace simverbs::client::memory
