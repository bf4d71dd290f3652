// Shared receive queues.
#include <bit>

#include "models/hca/device.hpp"

namespace simverbs::hca {

namespace {
int no_such_srq(const ControlContext& by) {
    return refuse(by, ENOENT, Rule::NoSuchObject, [](Explanation& e) { e.attribute = "srq"; });
}
int beyond_limit(const ControlContext& by, const char* attribute, int limit, uint32_t given) {
    return refuse(by, EINVAL, Rule::LimitExceeded, [&](Explanation& e) {
        e.attribute = attribute;
        e.required = "at most " + std::to_string(limit);
        e.given = std::to_string(given);
    });
}
}  // namespace

Result<SrqHandle> Hca::create_srq(const ControlContext& by, SrqSpec& spec) {
    Device& d = *device_;
    Pd* pd = d.find_pd(by, spec.pd);
    if (pd == nullptr) return {refuse(by, ENOENT, Rule::NoSuchObject, [](Explanation& e) { e.attribute = "pd"; }), 0};
    const auto opened = d.xrcds.find(spec.xrcd);
    Cq* cq = nullptr;
    if (spec.xrcd != 0) {
        if (opened == d.xrcds.end() || opened->second.owner != by.owner)
            return {refuse(by, ENOENT, Rule::NoSuchObject, [](Explanation& e) { e.attribute = "xrcd"; }), 0};
        cq = d.find_cq(spec.cq);
        if (cq == nullptr || cq->owner != by.owner)
            return {refuse(by, ENOENT, Rule::NoSuchObject, [](Explanation& e) { e.attribute = "cq"; }), 0};
    }
    if (spec.max_wr > static_cast<uint32_t>(d.attr.max_srq_wr))
        return {beyond_limit(by, "srq_attr.max_wr", d.attr.max_srq_wr, spec.max_wr), 0};
    if (spec.max_wr == 0 && !d.profile.behaviour.allows_empty_srq)
        return {refuse(by, EINVAL, Rule::LimitExceeded,
                       [](Explanation& e) {
                           e.attribute = "srq_attr.max_wr";
                           e.required = "at least 1";
                           e.given = "0";
                       }),
                0};
    if (spec.max_sge > static_cast<uint32_t>(d.attr.max_srq_sge))
        return {beyond_limit(by, "srq_attr.max_sge", d.attr.max_srq_sge, spec.max_sge), 0};
    if (d.srqs.size() >= static_cast<size_t>(d.attr.max_srq))
        return {refuse(by, ENOMEM, Rule::OutOfResources, [](Explanation& e) { e.attribute = "max_srq"; }), 0};
    auto srq = std::make_unique<Srq>();
    srq->handle = d.next_srq++;
    srq->owner = by.owner;
    srq->pd = spec.pd;
    // As on ConnectX: a power of two, less the one that tells full from empty.
    spec.max_wr = std::bit_ceil(spec.max_wr + 1) - 1;
    spec.max_sge = std::max(spec.max_sge, 1U);
    srq->queue.allocate(spec.max_wr, spec.max_sge);
    ++pd->users;
    if (cq != nullptr) {
        srq->xrcd = spec.xrcd;
        srq->domain = opened->second.domain;
        srq->cq = cq;
        ++opened->second.users;
        ++cq->users;
    }
    const SrqHandle handle = srq->handle;
    d.srqs[handle] = std::move(srq);
    return {0, handle};
}

int Hca::modify_srq(const ControlContext& by, SrqHandle handle, const SrqAttr& attr, uint32_t mask) {
    Device& d = *device_;
    Srq* srq = d.find_srq(handle);
    if (srq == nullptr || srq->owner != by.owner) return no_such_srq(by);
    if ((mask & ~(kSrqMaxWr | kSrqLimit)) != 0)
        return refuse(by, EINVAL, Rule::AttributeNotAllowed, [](Explanation& e) { e.attribute = "srq_attr_mask"; });
    // ConnectX cannot resize an SRQ.
    if ((mask & kSrqMaxWr) != 0)
        return refuse(by, EINVAL, Rule::AttributeNotAllowed, [](Explanation& e) {
            e.attribute = "IBV_SRQ_MAX_WR";
            e.advice = "create a larger SRQ";
        });
    if ((mask & kSrqLimit) != 0) {
        if (attr.srq_limit >= srq->queue.capacity() + 1)
            return beyond_limit(by, "srq_attr.srq_limit", static_cast<int>(srq->queue.capacity()), attr.srq_limit);
        srq->limit = attr.srq_limit;
        if (srq->limit != 0 && srq->queue.waiting() < srq->limit) {
            srq->limit = 0;
            d.raise(EventType::SrqLimitReached, srq->owner, handle, by.now);
        }
    }
    return 0;
}

Result<SrqAttr> Hca::query_srq(const ControlContext& by, SrqHandle handle) const {
    const Srq* srq = device_->find_srq(handle);
    if (srq == nullptr || srq->owner != by.owner) return {no_such_srq(by), {}};
    return {0, {srq->queue.capacity(), srq->queue.max_sge(), srq->limit}};
}

int Hca::destroy_srq(const ControlContext& by, SrqHandle handle) {
    Device& d = *device_;
    const Srq* srq = d.find_srq(handle);
    if (srq == nullptr || srq->owner != by.owner) return no_such_srq(by);
    if (srq->users > 0)
        return refuse(by, EBUSY, Rule::ObjectInUse, [](Explanation& e) {
            e.attribute = "srq";
            e.advice = "destroy the QPs that use it first";
        });
    d.forget_srq(*srq);
    if (srq->xrcd != 0) {
        --d.xrcds[srq->xrcd].users;
        --srq->cq->users;
    }
    --d.pds[srq->pd].users;
    d.srqs.erase(handle);
    return 0;
}

}  // namespace simverbs::hca
