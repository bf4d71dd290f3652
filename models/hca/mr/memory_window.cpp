// Memory windows: allocation, bind and invalidation as the adapter executes them.
#include "models/hca/device.hpp"
#include "models/hca/mr/mw_bind_check.hpp"

namespace simverbs::hca {

namespace {

int no_window_object(const ControlContext& by, const char* what) {
    return refuse(by, ENOENT, Rule::NoSuchObject, [&](Explanation& e) { e.attribute = what; });
}

}  // namespace

Result<MrKeys> Hca::alloc_mw(const ControlContext& by, PdHandle pd_handle, MwType type) {
    Device& d = *device_;
    Pd* pd = d.find_pd(by, pd_handle);
    if (pd == nullptr) return {no_window_object(by, "pd"), {}};
    if (type != MwType::Type1 && type != MwType::Type2)
        return {refuse(by, EINVAL, Rule::AttributeOutOfRange,
                       [&](Explanation& e) {
                           e.attribute = "type";
                           e.required = "IBV_MW_TYPE_1 or IBV_MW_TYPE_2";
                           e.given = std::to_string(static_cast<unsigned>(type));
                       }),
                {}};
    if (d.mrs.count() >= static_cast<uint32_t>(d.attr.max_mw))
        return {refuse(by, ENOMEM, Rule::OutOfResources, [](Explanation& e) { e.attribute = "max_mw"; }), {}};
    Mr& mw = d.mrs.add();
    mw.owner = by.owner;
    mw.pd = pd_handle;
    mw.kind = type == MwType::Type1 ? KeyKind::WindowType1 : KeyKind::WindowType2;
    mw.rkey_valid = false;
    ++pd->users;
    return {0, {mw.handle, 0, mw.rkey}};
}

int Hca::dealloc_mw(const ControlContext& by, MrHandle handle) {
    Device& d = *device_;
    Mr* mw = d.mrs.find(handle);
    if (mw == nullptr || mw->owner != by.owner || !mw->is_window()) return no_window_object(by, "mw");
    d.unbind(*mw);
    --d.pds[mw->pd].users;
    d.mrs.remove(*mw);
    return 0;
}

void Device::unbind(Mr& window) {
    if (Mr* region = mrs.find(window.bound_to); region != nullptr) --region->windows;
    window.bound_to = window.bound_qp = 0;
    window.rkey_valid = false;
    ++mr_epoch;
}

bool Device::bind_window(const Qp& qp, const SendWqe& w) {
    Mr* window = mrs.find(w.mw);
    Mr* region = mrs.find(w.mw_mr);
    const MwBind wanted{w.mw_rkey, w.remote_addr, w.compare_add, w.mw_access, qp.pd};
    if (window == nullptr || window->owner != qp.verbs->owner) return false;
    if (region != nullptr && region->owner != qp.verbs->owner) return false;
    if (check_bind(*window, region, wanted) != MwBindVerdict::Ok) return false;
    unbind(*window);
    window->rkey = w.mw_rkey;
    if (w.compare_add == 0) return true;
    window->space = region->space;
    window->host_memory = region->host_memory;
    window->addr = region->addr + (w.remote_addr - region->iova);
    window->iova = (w.mw_access & kZeroBased) != 0 ? 0 : w.remote_addr;
    window->length = w.compare_add;
    window->access = w.mw_access;
    window->bound_to = region->handle;
    window->bound_qp = window->kind == KeyKind::WindowType2 ? qp.qpn : 0;
    window->rkey_valid = true;
    ++region->windows;
    return true;
}

bool Device::invalidate(const Qp& qp, uint32_t rkey) {
    const Mr* found = remote_region(qp, rkey);
    if (found == nullptr || found->kind != KeyKind::WindowType2 || found->pd != qp.pd) return false;
    unbind(*mrs.find(found->handle));
    return true;
}

const Mr* Device::remote_region(const Qp& qp, uint32_t rkey) const noexcept {
    const Mr* mr = mrs.find_rkey(rkey);
    if (mr == nullptr || mr->kind == KeyKind::NullRegion) return nullptr;
    return mr->kind == KeyKind::WindowType2 && mr->bound_qp != qp.qpn ? nullptr : mr;
}

Device::LocalFault Device::execute_local(Qp& qp, const Message& m, const SendWqe& w) {
    if (m.opcode == WrOpcode::BindMw)
        return bind_window(qp, w) ? LocalFault{} : LocalFault{Check::MwBind, w.remote_addr, w.compare_add, w.mw_rkey};
    return invalidate(qp, w.imm_or_rkey) ? LocalFault{} : LocalFault{Check::InvalidateKey, 0, 0, w.imm_or_rkey};
}

}  // namespace simverbs::hca
