// May this window be bound like this? Pure.
#pragma once

#include <cstdint>

#include "models/hca/mr/mr_access_check.hpp"

namespace simverbs::hca {

/// What a bind asks for. No bytes: a type 1 window is unbound.
struct MwBind {
    uint32_t rkey = 0;
    uint64_t va = 0, length = 0;
    uint32_t access = 0;
    uint32_t pd = 0;  ///< of the QP
};

/// `Ok` or which rule is broken, in the order of the checks.
enum class MwBindVerdict : uint8_t {
    Ok,
    WrongKey,      ///< another window's key: only the consumer byte may change
    WrongPd,       ///< window, region and QP must be of one protection domain
    AlreadyBound,  ///< a type 2 window must be invalidated first
    NoRegion,      ///< no region, or not one that windows can be bound to
    NoRight,       ///< region without IBV_ACCESS_MW_BIND, or not writable where the window would be
    BadAccess,     ///< rights that a window cannot have
    OutOfBounds,
};

/// Source: IBTA vol. 1, "Memory windows", bind rules; the rights as in ibv_bind_mw(3).
[[nodiscard]] constexpr MwBindVerdict check_bind(const Mr& window, const Mr* region, const MwBind& bind) noexcept {
    // Local rights are the region's; naming one means nothing.
    constexpr uint32_t kWindowAccess = kLocalWrite | kRemoteWrite | kRemoteRead | kRemoteAtomic | kZeroBased;
    constexpr uint32_t kWrites = kRemoteWrite | kRemoteAtomic;
    if (!window.is_window() || (bind.rkey >> 8) != (window.rkey >> 8)) return MwBindVerdict::WrongKey;
    if (window.pd != bind.pd) return MwBindVerdict::WrongPd;
    if (window.kind == KeyKind::WindowType2 && window.bound_to != 0) return MwBindVerdict::AlreadyBound;
    if (bind.length == 0) return window.kind == KeyKind::WindowType1 ? MwBindVerdict::Ok : MwBindVerdict::OutOfBounds;
    if (region == nullptr || region->kind != KeyKind::Region) return MwBindVerdict::NoRegion;
    if (region->pd != bind.pd) return MwBindVerdict::WrongPd;
    if ((bind.access & ~kWindowAccess) != 0) return MwBindVerdict::BadAccess;
    if ((region->access & kMwBind) == 0) return MwBindVerdict::NoRight;
    if ((bind.access & kWrites) != 0 && (region->access & kLocalWrite) == 0) return MwBindVerdict::NoRight;
    const MrVerdict range = check_access(region, bind.pd, bind.va, bind.length, 0);
    return range == MrVerdict::Ok ? MwBindVerdict::Ok : MwBindVerdict::OutOfBounds;
}

}  // namespace simverbs::hca
