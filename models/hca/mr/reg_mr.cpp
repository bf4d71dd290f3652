// Memory regions: registration and its end.
#include "models/hca/mr/add_region.hpp"

namespace simverbs::hca {

namespace {

constexpr uint32_t kKnownMrAccess = kLocalWrite | kRemoteWrite | kRemoteRead | kRemoteAtomic | kMwBind | kZeroBased |
                                    kOnDemand | kHugetlb | kFlushGlobal | kFlushPersistent | kRelaxedOrdering;

/// Rights that others get to change memory need the right to change it locally.
/// Source: IBTA vol. 1, "Register memory region", access rights.
constexpr bool access_consistent(uint32_t access) noexcept {
    return (access & (kRemoteWrite | kRemoteAtomic)) == 0 || (access & kLocalWrite) != 0;
}

int check_access_flags(const ControlContext& by, uint32_t access, const Behaviour& adapter) {
    if ((access & kOnDemand) != 0 && !adapter.has_on_demand)
        return refuse(by, EINVAL, Rule::AccessFlagsInvalid, [](Explanation& e) {
            e.attribute = "access";
            e.given = "IBV_ACCESS_ON_DEMAND";
            e.required = "flags that the adapter has: it cannot page on demand";
        });
    if ((access & ~kKnownMrAccess) == 0 && access_consistent(access)) return 0;
    return refuse(by, EINVAL, Rule::AccessFlagsInvalid, [&](Explanation& e) {
        e.attribute = "access";
        e.required = "IBV_ACCESS_LOCAL_WRITE together with IBV_ACCESS_REMOTE_WRITE or IBV_ACCESS_REMOTE_ATOMIC";
        e.given = std::to_string(access);
        e.advice = "add IBV_ACCESS_LOCAL_WRITE";
    });
}

/// Source: the kernel's ib_umem_get, which pins whole pages: a range without any is refused.
int check_range(const ControlContext& by, const MrSpec& spec, Pages pages) {
    constexpr uint64_t kPage = 4096;
    if (pages == Pages::Pinned && spec.length == 0 && spec.addr % kPage == 0)
        return refuse(by, EINVAL, Rule::RangeInvalid, [](Explanation& e) {
            e.attribute = "length";
            e.given = "0";
            e.required = "at least one byte";
        });
    if (spec.addr + spec.length >= spec.addr && spec.iova + spec.length >= spec.iova) return 0;
    return refuse(by, EINVAL, Rule::RangeInvalid, [&](Explanation& e) {
        e.attribute = "length";
        e.given = std::to_string(spec.length);
        e.required = "a range that does not wrap around the address space";
    });
}

int no_such_mr(const ControlContext& by) {
    return refuse(by, ENOENT, Rule::NoSuchObject, [](Explanation& e) { e.attribute = "mr"; });
}

/// Source: ibv_dereg_mr(3), ibv_rereg_mr(3): a region with bound windows stays.
int has_windows(const ControlContext& by, const Mr& mr) {
    if (mr.windows == 0) return 0;
    return refuse(by, EBUSY, Rule::ObjectInUse, [&](Explanation& e) {
        e.attribute = "mr";
        e.given = std::to_string(mr.windows) + " bound memory windows";
        e.advice = "unbind, invalidate or deallocate them first";
    });
}

}  // namespace

Result<MrKeys> add_region(Device& d, const ControlContext& by, const MrSpec& spec, Pages pages) {
    Pd* pd = d.find_pd(by, spec.pd);
    if (pd == nullptr) return {refuse(by, ENOENT, Rule::NoSuchObject, [](Explanation& e) { e.attribute = "pd"; }), {}};
    if (const int error = check_access_flags(by, spec.access, d.profile.behaviour); error != 0) return {error, {}};
    if (const int error = check_range(by, spec, pages); error != 0) return {error, {}};
    if (d.mrs.count() >= static_cast<uint32_t>(d.attr.max_mr))
        return {refuse(by, ENOMEM, Rule::OutOfResources, [](Explanation& e) { e.attribute = "max_mr"; }), {}};
    Mr& mr = d.mrs.add();
    mr.owner = by.owner;
    mr.pd = spec.pd;
    mr.space = spec.space;
    mr.addr = spec.addr;
    mr.iova = spec.iova;
    mr.length = spec.length;
    mr.access = spec.access;
    mr.host_memory = spec.memory;
    ++pd->users;
    return {0, {mr.handle, mr.lkey, mr.rkey}};
}

Result<MrKeys> Hca::reg_mr(const ControlContext& by, const MrSpec& spec) {
    return add_region(*device_, by, spec, Pages::Pinned);
}

Result<MrKeys> Hca::alloc_null_mr(const ControlContext& by, PdHandle pd_handle) {
    Result<MrKeys> made =
        reg_mr(by, {pd_handle, host::kNullSpace, 0, ~uint64_t{0}, 0, kLocalWrite, host::kAdapterMemory});
    if (made.ok()) device_->mrs.find(made.value.handle)->kind = KeyKind::NullRegion;
    return made;
}

Result<MrKeys> Hca::rereg_mr(const ControlContext& by, MrHandle handle, uint32_t flags, const MrSpec& spec) {
    Device& d = *device_;
    Mr* mr = d.mrs.find(handle);
    if (mr == nullptr || mr->owner != by.owner || mr->is_window()) return {no_such_mr(by), {}};
    if (mr->kind == KeyKind::NullRegion || mr->memory != 0)
        return {refuse(by, EOPNOTSUPP, Rule::AttributeNotAllowed, [](Explanation& e) { e.attribute = "mr"; }), {}};
    if (const int error = has_windows(by, *mr); error != 0) return {error, {}};
    if ((flags & ~(kChangeTranslation | kChangePd | kChangeAccess)) != 0 || flags == 0)
        return {refuse(by, EINVAL, Rule::AttributeOutOfRange, [](Explanation& e) { e.attribute = "flags"; }), {}};
    Pd* pd = (flags & kChangePd) != 0 ? d.find_pd(by, spec.pd) : nullptr;
    if ((flags & kChangePd) != 0 && pd == nullptr)
        return {refuse(by, ENOENT, Rule::NoSuchObject, [](Explanation& e) { e.attribute = "pd"; }), {}};
    if ((flags & kChangeAccess) != 0)
        if (const int error = check_access_flags(by, spec.access, d.profile.behaviour); error != 0) return {error, {}};
    if ((flags & kChangeTranslation) != 0)
        if (const int error = check_range(by, spec, Pages::Pinned); error != 0) return {error, {}};
    if (d.mover != nullptr) d.mover->settle_all(mr->space);
    ++d.mr_epoch;
    if (pd != nullptr) {
        --d.pds[mr->pd].users;
        ++pd->users;
        mr->pd = spec.pd;
    }
    if ((flags & kChangeAccess) != 0) mr->access = spec.access;
    if ((flags & kChangeTranslation) != 0) {
        mr->space = spec.space;
        mr->addr = spec.addr;
        mr->iova = spec.iova;
        mr->length = spec.length;
        mr->host_memory = spec.memory;
    }
    return {0, {mr->handle, mr->lkey, mr->rkey}};
}

int Hca::dereg_mr(const ControlContext& by, MrHandle handle) {
    Device& d = *device_;
    Mr* mr = d.mrs.find(handle);
    if (mr == nullptr || mr->owner != by.owner || mr->is_window()) return no_such_mr(by);
    if (const int error = has_windows(by, *mr); error != 0) return error;
    if (mr->memory != 0) --d.dms[mr->memory].users;
    // What has been read and written so far counts; the memory may be unmapped at once.
    if (d.mover != nullptr) d.mover->settle_all(mr->space);
    ++d.mr_epoch;
    --d.pds[mr->pd].users;
    d.mrs.remove(*mr);
    return 0;
}

}  // namespace simverbs::hca
