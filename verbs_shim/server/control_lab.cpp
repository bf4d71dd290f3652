// Requests about the lab itself: explanations, slots, names.
#include <cerrno>
#include <cstring>

#include "verbs_shim/server/control.hpp"

namespace simverbs::server {

namespace {

constexpr int64_t kNameLookupPs = 1'000'000;

void set_name(char (&to)[32], const std::string& name) {
    const size_t n = std::min(name.size(), sizeof to - 1);
    std::memcpy(to, name.data(), n);
    to[n] = '\0';
}

}  // namespace

int explain_failure(Call& call, const protocol::ExplainRequest& request, protocol::ReplyHeader&) {
    call.lab.explain(call.client, printable(bounded(request.text)));
    return 0;
}

int reserve_slot(Call& call, const protocol::ReserveSlotRequest& request, protocol::ReserveSlotReply& reply) {
    if (request.kind > 1 || request.h.slot >= protocol::kMaxThreads) return EINVAL;
    if (call.lab.roster().process_of_slot[request.h.slot] != call.client.process) return EINVAL;
    uint32_t process = call.client.process;
    if (request.kind == 1) process = call.lab.reserve_process(call.client.host, call.client.program);
    if (process == Lab::kNone) return EAGAIN;
    // The caller sets the newcomer's clock before it makes it. Until then nobody waits for the arrival: at an equal
    // clock and with a lower number the slot would be picked before the caller goes on.
    reply.slot = call.lab.reserve_slot(process, Lab::kLatestClockPs);
    return reply.slot == Lab::kNone ? EAGAIN : 0;
}

int resolve(Call& call, const protocol::ResolveRequest& request, protocol::ResolveReply& reply) {
    call.cost_ps = kNameLookupPs;
    const std::string name = bounded(request.name);
    for (const Host& host : call.lab.hosts()) {
        if (name.empty() ? host.address != request.address : host.name != name) continue;
        reply.address = host.address;
        set_name(reply.name, host.name);
        return 0;
    }
    return ENOENT;
}

}  // namespace simverbs::server
