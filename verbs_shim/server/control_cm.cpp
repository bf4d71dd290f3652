// Requests about rdma_cm: open, write and close of its character device.
#include <cerrno>

#include "verbs_shim/server/cm/rdma_cm.hpp"
#include "verbs_shim/server/control.hpp"

namespace simverbs::server {

namespace {

/// A system call with a mutex or two.
constexpr int64_t kCommandPs = 1'500'000;

}  // namespace

int open_cm(Call& call, const protocol::ObjectRequest&, protocol::CmOpenReply& reply) {
    call.cost_ps = kCommandPs;
    RdmaCm::Opened opened = call.lab.rdma_cm().open(call.client);
    if (opened.error != 0) return opened.error;
    reply.file = opened.file;
    reply.key = opened.key;
    call.fds.push_back(std::move(opened.process_end));
    return 0;
}

int close_cm(Call& call, const protocol::ObjectRequest& request, protocol::ReplyHeader&) {
    call.cost_ps = kCommandPs;
    call.lab.rdma_cm().close(call.client, request.handle, call.now);
    return 0;
}

int command_cm(Call& call, const protocol::CmCommandRequest& request, protocol::CmCommandReply& reply) {
    call.cost_ps = kCommandPs;
    CmAnswer answer = call.lab.rdma_cm().command(call.client, request, call.now);
    if (answer.error != 0) return answer.error;
    if (answer.out.size() > sizeof reply.out) return ENOSPC;
    reply.out_bytes = static_cast<uint32_t>(answer.out.size());
    std::copy(answer.out.begin(), answer.out.end(), reply.out);
    reply.hold_key = answer.hold_key;
    reply.hold_busy = answer.hold_busy;
    return 0;
}

}  // namespace simverbs::server
