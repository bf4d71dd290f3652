// May this key touch these bytes? The L_Key and R_Key checks.
#pragma once

#include <cstdint>

#include "models/hca/explanation.hpp"
#include "models/hca/verbs_types.hpp"
#include "models/host/host_complex.hpp"

namespace simverbs::hca {

/// What a key stands for.
enum class KeyKind : uint8_t {
    Region,
    NullRegion,   ///< local only: reads as zeros, what is written vanishes
    WindowType1,  ///< bound by whoever has its QP's protection domain
    WindowType2,  ///< bound and used through one QP
};

/// A registered range of memory, or a window into one.
struct Mr {
    uint32_t handle = 0;  ///< 0: free
    uint32_t owner = 0;
    uint32_t pd = 0;
    host::AddressSpaceId space = 0;
    uint64_t addr = 0;  ///< in the process
    uint64_t iova = 0, length = 0;
    uint32_t access = 0;
    uint32_t lkey = 0, rkey = 0;
    KeyKind kind = KeyKind::Region;
    bool rkey_valid = true;  ///< a window that is not bound has no valid key
    uint32_t windows = 0;    ///< bound to this region
    uint32_t bound_to = 0;   ///< window: handle of its region; 0: not bound
    uint32_t bound_qp = 0;   ///< type 2 window: the only QP that serves it
    uint32_t memory = 0;     ///< handle of the device memory that it lies in; 0: the program's
    host::MemoryId host_memory = host::kNearestMemory;  ///< that DMA reaches
    uint8_t generation = 0;                             ///< of this slot: the consumer byte of its keys

    [[nodiscard]] constexpr bool is_window() const noexcept {
        return kind == KeyKind::WindowType1 || kind == KeyKind::WindowType2;
    }
};

/// What an access came to. `Ok` or which check failed, in the order of the checks.
enum class MrVerdict : uint8_t { Ok, NoSuchKey, WrongPd, NoRight, OutOfBounds };

/// `needed`: the AccessFlags that the operation requires (0 for a local read).
/// Source: IBTA vol. 1, "Memory access: R_Key and L_Key checks" (C9-…: key, PD, rights, bounds).
[[nodiscard]] constexpr MrVerdict check_access(const Mr* mr, uint32_t pd, uint64_t va, uint64_t length,
                                               uint32_t needed) noexcept {
    if (mr == nullptr) return MrVerdict::NoSuchKey;
    if (mr->pd != pd) return MrVerdict::WrongPd;
    if ((mr->access & needed) != needed) return MrVerdict::NoRight;
    if (va < mr->iova || length > mr->length || va - mr->iova > mr->length - length) return MrVerdict::OutOfBounds;
    return MrVerdict::Ok;
}

/// How a failed check is told, at the side that owns the MR's WQE …
[[nodiscard]] constexpr Check local_check_of(MrVerdict v) noexcept {
    switch (v) {
        case MrVerdict::Ok:
            return Check::None;
        case MrVerdict::NoSuchKey:
        case MrVerdict::WrongPd:
            return Check::LocalKey;
        case MrVerdict::NoRight:
            return Check::LocalAccess;
        case MrVerdict::OutOfBounds:
            return Check::LocalBounds;
    }
    return Check::LocalKey;
}
/// … and at a responder, for an R_Key.
[[nodiscard]] constexpr Check remote_check_of(MrVerdict v) noexcept {
    switch (v) {
        case MrVerdict::Ok:
            return Check::None;
        case MrVerdict::NoSuchKey:
        case MrVerdict::WrongPd:
            return Check::RemoteKey;
        case MrVerdict::NoRight:
            return Check::RemoteAccess;
        case MrVerdict::OutOfBounds:
            return Check::RemoteBounds;
    }
    return Check::RemoteKey;
}

}  // namespace simverbs::hca
