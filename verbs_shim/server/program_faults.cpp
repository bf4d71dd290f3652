#include "verbs_shim/server/program_faults.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "verbs_shim/server/client.hpp"

namespace simverbs::server {

using protocol::Op;
using sim::SimTime;

namespace {

constexpr std::array<std::pair<std::string_view, Op>, 18> kCalls{{
    {"open_device", Op::OpenDevice},
    {"alloc_pd", Op::AllocPd},
    {"reg_mr", Op::RegMr},
    {"rereg_mr", Op::ReregMr},
    {"alloc_null_mr", Op::AllocNullMr},
    {"alloc_mw", Op::AllocMw},
    {"alloc_dm", Op::AllocDm},
    {"reg_dm_mr", Op::RegDmMr},
    {"create_comp_channel", Op::CreateCompChannel},
    {"create_cq", Op::CreateCq},
    {"resize_cq", Op::ResizeCq},
    {"create_srq", Op::CreateSrq},
    {"modify_srq", Op::ModifySrq},
    {"create_qp", Op::CreateQp},
    {"modify_qp", Op::ModifyQp},
    {"create_ah", Op::CreateAh},
    {"attach_mcast", Op::AttachMcast},
    {"open_xrcd", Op::OpenXrcd},
}};

std::string counted(uint64_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace

Op op_of_call(std::string_view call) noexcept {
    for (const auto& [name, op] : kCalls)
        if (name == call) return op;
    return Op::kCount;
}

template <class Fault>
size_t ProgramFaults::add_to(std::vector<Entry<Fault>>& entries, const Fault& fault) {
    entries.push_back({fault, firings_.size(), 0});
    firings_.emplace_back();
    return firings_.size() - 1;
}

size_t ProgramFaults::add(const FailCall& fault) {
    return add_to(calls_, fault);
}

size_t ProgramFaults::add(const LimitCq& fault) {
    return add_to(limits_, fault);
}

size_t ProgramFaults::add(const PlaceCqe& fault) {
    return add_to(places_, fault);
}

size_t ProgramFaults::add(const DelayReceives& fault) {
    return add_to(delays_, fault);
}

int ProgramFaults::refuse(uint32_t program, Op op, SimTime now, std::string& why) {
    int error = 0;
    for (Entry<FailCall>& entry : calls_) {
        if (entry.fault.program != program || entry.fault.op != op) continue;
        const uint64_t number = ++entry.seen;
        if (number < entry.fault.number || number - entry.fault.number >= entry.fault.count || error != 0) continue;
        error = entry.fault.error;
        firings_[entry.index].note(now);
        why = fmt::format("ibv_{}: failed with {}, because the scenario's fault '{}' wants it of call {}.",
                          entry.fault.call, ::strerrorname_np(error), entry.fault.name, number);
    }
    return error;
}

uint32_t ProgramFaults::on_new_cq(const Client& client, uint32_t handle, const CqObject& cq) {
    if (limits_.empty() && places_.empty()) return 0;
    const uint64_t number = ++cqs_made_[client.program];
    uint32_t limit = 0;
    for (size_t i = 0; i < limits_.size(); ++i) {
        const LimitCq& fault = limits_[i].fault;
        if (fault.program != client.program || fault.cq != number) continue;
        limited_[{&client, handle}] = i;
        limit = fault.entries;
        ++limits_[i].seen;
    }
    for (size_t i = 0; i < places_.size(); ++i) {
        const PlaceCqe& fault = places_[i].fault;
        if (fault.program != client.program || (fault.cq != 0 && fault.cq != number) || cq.channel == 0) continue;
        held_[{&client, handle}] = {i, 0};
        if (fault.arming == 1) cq.ring.header->aux.store(static_cast<uint64_t>(fault.patience.in_ps()));
    }
    return limit;
}

uint32_t ProgramFaults::limit_of(const Client& client, uint32_t handle) const {
    const auto it = limited_.find({&client, handle});
    return it == limited_.end() ? 0 : limits_[it->second].fault.entries;
}

void ProgramFaults::on_cq_gone(const Client& client, uint32_t handle) {
    limited_.erase({&client, handle});
    held_.erase({&client, handle});
}

void ProgramFaults::on_client_gone(const Client& client) {
    const auto is_his = [&](const auto& entry) { return entry.first.first == &client; };
    std::erase_if(limited_, is_his);
    std::erase_if(held_, is_his);
}

void ProgramFaults::on_cq_error(const Client& client, uint32_t handle, SimTime now) {
    const auto it = limited_.find({&client, handle});
    if (it != limited_.end()) firings_[limits_[it->second].index].note(now);
}

void ProgramFaults::on_armed(const Client& client, uint32_t handle, const CqObject& cq, SimTime t) {
    const auto it = held_.find({&client, handle});
    if (it == held_.end()) return;
    Entry<PlaceCqe>& entry = places_[it->second.fault];
    FaultFiring& firing = firings_[entry.index];
    std::atomic<uint64_t>& aux = cq.ring.header->aux;
    if ((aux.load() & protocol::kArmingHeld) != 0) {
        aux.store(0);
        firing.note(t);
    } else if (cq.ring.header->consumed.load() == cq.produced) {
        ++it->second.armings;
    }
    entry.seen = std::max(entry.seen, it->second.armings);
    // Once a scenario: the race is for one completion.
    if (firing.times > 0)
        aux.store(0);
    else if (it->second.armings + 1 >= entry.fault.arming)
        aux.store(static_cast<uint64_t>(entry.fault.patience.in_ps()));
}

SimTime ProgramFaults::receive_time(uint32_t program, SimTime t) {
    SimTime at = t;
    for (Entry<DelayReceives>& entry : delays_) {
        const DelayReceives& fault = entry.fault;
        if (fault.program != program) continue;
        ++entry.seen;
        if (t < fault.from || t >= fault.until) continue;
        at += fault.by;
        firings_[entry.index].note(t);
    }
    return at;
}

FaultFiring ProgramFaults::firing(size_t index, const std::string& name) const {
    FaultFiring out = firings_[index];
    if (out.times > 0) return out;
    for (const auto& entry : calls_)
        if (entry.index == index)
            out.silence = fmt::format("'{}' made {} of {}, it waits for call {}", name, counted(entry.seen, "call"),
                                      entry.fault.call, entry.fault.number);
    for (const auto& entry : limits_) {
        if (entry.index != index) continue;
        const auto made = cqs_made_.find(entry.fault.program);
        out.silence = entry.seen > 0
                          ? fmt::format("CQ {} of '{}' never held more than {} at once", entry.fault.cq, name,
                                        counted(entry.fault.entries, "completion"))
                          : fmt::format("'{}' made {}, it waits for number {}", name,
                                        counted(made == cqs_made_.end() ? 0 : made->second, "CQ"), entry.fault.cq);
    }
    for (const auto& entry : places_)
        if (entry.index == index)
            out.silence = entry.seen == 0 ? fmt::format("'{}' armed no CQ that was empty", name)
                                          : fmt::format(
                                                "'{}' armed an empty CQ {} times, and no completion came while "
                                                "it was held before that",
                                                name, entry.seen);
    for (const auto& entry : delays_)
        if (entry.index == index)
            out.silence = fmt::format("'{}' posted {}, none of them meanwhile", name, counted(entry.seen, "receive"));
    return out;
}

}  // namespace simverbs::server
