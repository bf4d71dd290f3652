// Completion queues: creation, resizing, destruction.
#include <bit>

#include "models/hca/device.hpp"

namespace simverbs::hca {

namespace {

/// A CQ of n entries gets the next power of two above n, as on ConnectX.
constexpr uint32_t rounded_entries(uint32_t entries) noexcept {
    return std::bit_ceil(entries + 1) - 1;
}

int check_entries(const ControlContext& by, uint32_t entries, int max_cqe) {
    if (entries >= 1 && entries <= static_cast<uint32_t>(max_cqe)) return 0;
    return refuse(by, EINVAL, Rule::LimitExceeded, [&](Explanation& e) {
        e.attribute = "cqe";
        e.required = "1 to max_cqe (" + std::to_string(max_cqe) + ")";
        e.given = std::to_string(entries);
    });
}

}  // namespace

Result<CqHandle> Hca::create_cq(const ControlContext& by, const CqSpec& spec) {
    Device& d = *device_;
    if (const int error = check_entries(by, spec.entries, d.attr.max_cqe); error != 0) return {error, 0};
    if (d.cqs.size() >= static_cast<size_t>(d.attr.max_cq))
        return {refuse(by, ENOMEM, Rule::OutOfResources, [](Explanation& e) { e.attribute = "max_cq"; }), 0};
    auto cq = std::make_unique<Cq>();
    cq->handle = d.next_cq++;
    cq->owner = by.owner;
    cq->capacity = rounded_entries(spec.entries);
    cq->has_channel = spec.has_channel;
    cq->memory = spec.memory;
    const CqHandle handle = cq->handle;
    d.cqs[handle] = std::move(cq);
    return {0, handle};
}

Result<uint32_t> Hca::cq_capacity(const ControlContext& by, CqHandle handle) const {
    const Cq* cq = device_->find_cq(handle);
    if (cq == nullptr || cq->owner != by.owner) return {ENOENT, 0};
    return {0, cq->capacity};
}

int Hca::resize_cq(const ControlContext& by, CqHandle handle, uint32_t entries) {
    Device& d = *device_;
    Cq* cq = d.find_cq(handle);
    if (cq == nullptr || cq->owner != by.owner)
        return refuse(by, ENOENT, Rule::NoSuchObject, [](Explanation& e) { e.attribute = "cq"; });
    if (const int error = check_entries(by, entries, d.attr.max_cqe); error != 0) return error;
    if (rounded_entries(entries) < cq->unpolled)
        return refuse(by, EINVAL, Rule::CqTooSmallForEntries, [&](Explanation& e) {
            e.attribute = "cqe";
            e.required = "at least the " + std::to_string(cq->unpolled) + " completions that have not been polled";
            e.given = std::to_string(entries);
            e.advice = "poll the CQ first";
        });
    cq->capacity = rounded_entries(entries);
    return 0;
}

int Hca::limit_cq(CqHandle handle, uint32_t entries) {
    Cq* cq = device_->find_cq(handle);
    if (cq == nullptr) return ENOENT;
    cq->capacity = std::min(cq->capacity, entries);
    return 0;
}

Hca::CqArming Hca::cq_arming(CqHandle handle) const {
    const Cq* cq = device_->find_cq(handle);
    if (cq == nullptr) return {};
    return {cq->arm != CqArm::None, cq->armed_at, cq->last_visible};
}

int Hca::destroy_cq(const ControlContext& by, CqHandle handle) {
    Device& d = *device_;
    const Cq* cq = d.find_cq(handle);
    if (cq == nullptr || cq->owner != by.owner)
        return refuse(by, ENOENT, Rule::NoSuchObject, [](Explanation& e) { e.attribute = "cq"; });
    if (cq->users > 0)
        return refuse(by, EBUSY, Rule::ObjectInUse, [](Explanation& e) {
            e.attribute = "cq";
            e.advice = "destroy the QPs that complete here first";
        });
    d.cqs.erase(handle);
    return 0;
}

}  // namespace simverbs::hca
