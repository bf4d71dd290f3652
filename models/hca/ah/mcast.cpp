// Multicast groups: which QPs of a port hear them, and which ports a sender copies to.
#include <algorithm>

#include "models/hca/device.hpp"
#include "models/wire/gid.hpp"

namespace simverbs::hca {

int Hca::attach_mcast(const ControlContext& by, uint32_t qp_num, const Gid& gid, uint16_t lid) {
    Device& d = *device_;
    Qp* qp = d.find_owned(by, qp_num);
    if (qp == nullptr) return refuse(by, ENOENT, Rule::NoSuchObject, [](Explanation& e) { e.attribute = "qp"; });
    wire::Gid group;
    group.bytes = gid;
    if (qp->type != QpType::Ud || !group.is_multicast())
        return refuse(by, EINVAL, Rule::MulticastGidInvalid, [&](Explanation& e) {
            e.attribute = "gid";
            e.required = "a multicast GID and a UD QP";
            e.given = wire::to_string(group);
        });
    auto& joined = qp->verbs->mcast;
    if (std::ranges::find(joined, std::pair(gid, lid)) != joined.end()) return 0;
    joined.emplace_back(gid, lid);
    d.mcast_members[{gid, qp->port_index}].push_back(qp_num);
    if (d.config.neighbours != nullptr) d.config.neighbours->join(gid, d.config.ports[qp->port_index].leaf);
    return 0;
}

int Hca::detach_mcast(const ControlContext& by, uint32_t qp_num, const Gid& gid, uint16_t lid) {
    Device& d = *device_;
    Qp* qp = d.find_owned(by, qp_num);
    if (qp == nullptr) return refuse(by, ENOENT, Rule::NoSuchObject, [](Explanation& e) { e.attribute = "qp"; });
    auto& joined = qp->verbs->mcast;
    const auto it = std::ranges::find(joined, std::pair(gid, lid));
    if (it == joined.end()) return refuse(by, EINVAL, Rule::NoSuchObject, [](Explanation& e) { e.attribute = "gid"; });
    joined.erase(it);
    d.leave_group(*qp, gid);
    return 0;
}

void Device::leave_group(Qp& qp, const Gid& gid) {
    const auto members = mcast_members.find({gid, qp.port_index});
    if (members == mcast_members.end()) return;
    std::erase(members->second, qp.qpn);
    if (members->second.empty()) mcast_members.erase(members);
    if (config.neighbours != nullptr) config.neighbours->leave(gid, config.ports[qp.port_index].leaf);
}

}  // namespace simverbs::hca
