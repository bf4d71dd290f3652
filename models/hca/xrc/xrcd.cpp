// XRC domains, and handles to XRC_RECV QPs.
#include <algorithm>

#include "models/hca/device.hpp"

namespace simverbs::hca {

namespace {
int no_such_xrcd(const ControlContext& by) {
    return refuse(by, ENOENT, Rule::NoSuchObject, [](Explanation& e) { e.attribute = "xrcd"; });
}
}  // namespace

/// Source: the kernel's ib_uverbs_open_xrcd.
Result<XrcdHandle> Hca::open_xrcd(const ControlContext& by, const XrcdFile& file, bool create, bool exclusive) {
    Device& d = *device_;
    if (!d.profile.behaviour.has_xrc)
        return {refuse(by, EOPNOTSUPP, Rule::QpTypeUnsupported, [](Explanation& e) { e.attribute = "xrcd"; }), 0};
    const bool shared = file != XrcdFile{};
    auto domain =
        std::ranges::find_if(d.xrc_domains, [&](const auto& entry) { return shared && entry.second.file == file; });
    if (domain == d.xrc_domains.end()) {
        if (!create)
            return {refuse(by, EAGAIN, Rule::NoSuchObject,
                           [](Explanation& e) {
                               e.attribute = "oflags";
                               e.required = "O_CREAT: the file has no XRC domain yet";
                           }),
                    0};
        domain = d.xrc_domains.emplace(d.next_xrc_domain++, XrcDomain{file, 0}).first;
    } else if (exclusive) {
        return {refuse(by, EINVAL, Rule::ObjectInUse,
                       [](Explanation& e) {
                           e.attribute = "oflags";
                           e.required = "no O_EXCL: the file has an XRC domain already";
                       }),
                0};
    }
    ++domain->second.openings;
    const XrcdHandle handle = d.next_xrcd++;
    d.xrcds[handle] = {by.owner, domain->first, 0};
    return {0, handle};
}

int Hca::close_xrcd(const ControlContext& by, XrcdHandle handle) {
    Device& d = *device_;
    const auto it = d.xrcds.find(handle);
    if (it == d.xrcds.end() || it->second.owner != by.owner) return no_such_xrcd(by);
    if (it->second.users > 0)
        return refuse(by, EBUSY, Rule::ObjectInUse, [&](Explanation& e) {
            e.attribute = "xrcd";
            e.given = std::to_string(it->second.users) + " objects";
            e.advice = "destroy its SRQs and QPs first";
        });
    if (--d.xrc_domains[it->second.domain].openings == 0) d.xrc_domains.erase(it->second.domain);
    d.xrcds.erase(it);
    return 0;
}

int Hca::open_qp(const ControlContext& by, uint32_t qp_num, XrcdHandle handle) {
    Device& d = *device_;
    const auto opened = d.xrcds.find(handle);
    if (opened == d.xrcds.end() || opened->second.owner != by.owner) return no_such_xrcd(by);
    Qp* qp = d.find_qp(qp_num);
    if (qp == nullptr || qp->destroyed || qp->verbs == nullptr || qp->type != QpType::XrcRecv ||
        d.xrcds[qp->verbs->init.xrcd].domain != opened->second.domain)
        return refuse(by, EINVAL, Rule::NoSuchObject, [](Explanation& e) { e.attribute = "qp_num"; });
    qp->verbs->openers.push_back(by.owner);
    return 0;
}

bool Device::drop_opener(Qp& qp, uint32_t owner) {
    std::vector<uint32_t>& openers = qp.verbs->openers;
    if (const auto it = std::ranges::find(openers, owner); it != openers.end()) {
        openers.erase(it);
        return true;
    }
    if (qp.verbs->owner != owner || openers.empty()) return false;
    qp.verbs->owner = openers.front();
    openers.erase(openers.begin());
    return true;
}

void Device::release_srqs(uint32_t owner) {
    std::erase_if(srqs, [&](const auto& entry) {
        if (entry.second->owner != owner) return false;
        forget_srq(*entry.second);
        if (entry.second->xrcd != 0) --xrcds[entry.second->xrcd].users;
        return true;
    });
}

void Device::release_domains(uint32_t owner) {
    std::erase_if(dms, [&](const auto& entry) {
        if (entry.second.owner != owner) return false;
        dm_bytes -= entry.second.length;
        return true;
    });
    std::erase_if(xrcds, [&](const auto& entry) {
        // A QP that others have opened outlives the opening that it was made through.
        if (entry.second.owner != owner || entry.second.users > 0) return false;
        if (--xrc_domains[entry.second.domain].openings == 0) xrc_domains.erase(entry.second.domain);
        return true;
    });
}

}  // namespace simverbs::hca
