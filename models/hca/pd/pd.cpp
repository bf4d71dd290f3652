// Protection domains.
#include "models/hca/device.hpp"

namespace simverbs::hca {

Result<PdHandle> Hca::alloc_pd(const ControlContext& by) {
    Device& d = *device_;
    if (d.pds.size() >= static_cast<size_t>(d.attr.max_pd))
        return {refuse(by, ENOMEM, Rule::OutOfResources, [](Explanation& e) { e.attribute = "max_pd"; }), 0};
    const PdHandle handle = d.next_pd++;
    d.pds[handle] = {by.owner, 0};
    return {0, handle};
}

int Hca::dealloc_pd(const ControlContext& by, PdHandle handle) {
    Device& d = *device_;
    const Pd* pd = d.find_pd(by, handle);
    if (pd == nullptr) return refuse(by, ENOENT, Rule::NoSuchObject, [](Explanation& e) { e.attribute = "pd"; });
    if (pd->users > 0)
        return refuse(by, EBUSY, Rule::ObjectInUse, [&](Explanation& e) {
            e.attribute = "pd";
            e.given = std::to_string(pd->users) + " objects";
            e.advice = "destroy its QPs, SRQs, MRs and AHs first";
        });
    d.pds.erase(handle);
    return 0;
}

}  // namespace simverbs::hca
