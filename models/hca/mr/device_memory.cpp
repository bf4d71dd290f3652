// Memory on the adapter, and hints for on-demand paging.
#include "models/hca/mr/add_region.hpp"

namespace simverbs::hca {

namespace {

int no_memory_object(const ControlContext& by, const char* what) {
    return refuse(by, ENOENT, Rule::NoSuchObject, [&](Explanation& e) { e.attribute = what; });
}

}  // namespace

Result<DmHandle> Hca::alloc_dm(const ControlContext& by, const DmSpec& spec) {
    Device& d = *device_;
    constexpr uint32_t kMostLogAlign = 63;
    if (spec.length == 0 || spec.length > d.attr.max_dm_size || spec.log_align_req > kMostLogAlign)
        return {refuse(by, EINVAL, Rule::LimitExceeded,
                       [&](Explanation& e) {
                           e.attribute = "length";
                           e.required = "1 to max_dm_size (" + std::to_string(d.attr.max_dm_size) + ")";
                           e.given = std::to_string(spec.length);
                       }),
                0};
    if (d.dm_bytes + spec.length > d.attr.max_dm_size)
        return {refuse(by, ENOMEM, Rule::OutOfResources, [](Explanation& e) { e.attribute = "max_dm_size"; }), 0};
    d.dm_bytes += spec.length;
    const DmHandle handle = d.next_dm++;
    d.dms[handle] = {by.owner, 0, spec.space, spec.addr, spec.length};
    return {0, handle};
}

int Hca::free_dm(const ControlContext& by, DmHandle handle) {
    Device& d = *device_;
    const auto it = d.dms.find(handle);
    if (it == d.dms.end() || it->second.owner != by.owner) return no_memory_object(by, "dm");
    if (it->second.users > 0)
        return refuse(by, EBUSY, Rule::ObjectInUse, [](Explanation& e) {
            e.attribute = "dm";
            e.advice = "deregister its memory regions first";
        });
    d.dm_bytes -= it->second.length;
    d.dms.erase(it);
    return 0;
}

/// Source: the kernel's UVERBS_METHOD_DM_MR_REG: IBV_ACCESS_ZERO_BASED is required, the range lies in the memory.
Result<MrKeys> Hca::reg_dm_mr(const ControlContext& by, const DmMrSpec& spec) {
    Device& d = *device_;
    const auto it = d.dms.find(spec.dm);
    if (it == d.dms.end() || it->second.owner != by.owner) return {no_memory_object(by, "dm"), {}};
    DeviceMemory& dm = it->second;
    if ((spec.access & kZeroBased) == 0)
        return {refuse(by, EINVAL, Rule::AccessFlagsInvalid,
                       [](Explanation& e) {
                           e.attribute = "access";
                           e.required = "IBV_ACCESS_ZERO_BASED: device memory has no virtual address";
                       }),
                {}};
    if (spec.offset > dm.length || spec.length > dm.length - spec.offset)
        return {refuse(by, EINVAL, Rule::RangeInvalid,
                       [&](Explanation& e) {
                           e.attribute = "dm_offset";
                           e.required = "a range inside of the " + std::to_string(dm.length) + " bytes";
                       }),
                {}};
    const MrSpec region{spec.pd, dm.space, dm.addr + spec.offset, spec.length, 0, spec.access, host::kAdapterMemory};
    const auto keys = add_region(d, by, region, Pages::None);
    if (!keys.ok()) return keys;
    d.mrs.find(keys.value.handle)->memory = spec.dm;
    ++dm.users;
    return keys;
}

/// Source: the kernel's mlx5_ib_advise_mr: each range must lie in an on-demand region of the PD.
int Hca::advise_mr(const ControlContext& by, PdHandle pd_handle, MrAdvice advice, std::span<const Sge> ranges) {
    Device& d = *device_;
    if (d.find_pd(by, pd_handle) == nullptr) return no_memory_object(by, "pd");
    if (advice > MrAdvice::PrefetchNoFault)
        return refuse(by, EOPNOTSUPP, Rule::AttributeOutOfRange, [](Explanation& e) { e.attribute = "advice"; });
    const uint32_t needed = advice == MrAdvice::PrefetchWrite ? uint32_t{kLocalWrite} : 0U;
    for (const Sge& range : ranges) {
        const Mr* mr = d.mrs.find_lkey(range.lkey);
        if (mr == nullptr || (mr->access & kOnDemand) == 0) return no_memory_object(by, "lkey");
        switch (check_access(mr, pd_handle, range.addr, range.length, needed)) {
            case MrVerdict::Ok:
                break;
            case MrVerdict::NoSuchKey:
                return no_memory_object(by, "lkey");
            case MrVerdict::WrongPd:
            case MrVerdict::NoRight:
                return refuse(by, EPERM, Rule::PdMismatch, [](Explanation& e) { e.attribute = "lkey"; });
            case MrVerdict::OutOfBounds:
                return refuse(by, EFAULT, Rule::RangeInvalid, [](Explanation& e) { e.attribute = "sg_list"; });
        }
    }
    return 0;
}

}  // namespace simverbs::hca
