#include "verbs_shim/server/control.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace simverbs::server {

using protocol::Op;
using protocol::ReplyHeader;
using protocol::RequestHeader;

namespace {

ReplyHeader& header_of(ReplyHeader& reply) {
    return reply;
}
template <class Reply>
ReplyHeader& header_of(Reply& reply) {
    return reply.h;
}

/// Copies the request out of the message, calls its handler, and makes the reply. A message of another length than its
/// struct is answered with EINVAL and changes nothing.
template <class Request, class Reply>
ControlReply answer(Call& call, std::span<const uint8_t> message, int (*handler)(Call&, const Request&, Reply&)) {
    Request request;
    RequestHeader header;
    std::memcpy(&header, message.data(), sizeof header);
    Reply reply{};
    ReplyHeader& h = header_of(reply);
    if (message.size() == sizeof(Request)) {
        std::memcpy(static_cast<void*>(&request), message.data(), sizeof request);
        h.error = call.wanted_error != 0 ? call.wanted_error : handler(call, request, reply);
    } else {
        h.error = EINVAL;
    }
    if (h.error != 0) call.fds.clear();
    h.sequence = header.sequence;
    h.bytes = sizeof(Reply);
    h.num_fds = static_cast<uint16_t>(call.fds.size());
    ControlReply out;
    out.bytes.resize(sizeof(Reply));
    std::memcpy(out.bytes.data(), static_cast<const void*>(&reply), sizeof(Reply));
    out.fds = std::move(call.fds);
    out.cost_ps = call.cost_ps;
    return out;
}

ControlReply dispatch(Call& call, Op op, std::span<const uint8_t> m) {
    switch (op) {
        case Op::OpenDevice:
            return answer(call, m, open_device);
        case Op::CloseDevice:
            return answer(call, m, close_device);
        case Op::QueryDevice:
            return answer(call, m, query_device);
        case Op::QueryPort:
            return answer(call, m, query_port);
        case Op::QueryGid:
            return answer(call, m, query_gid);
        case Op::QueryPkey:
            return answer(call, m, query_pkey);
        case Op::AllocPd:
            return answer(call, m, alloc_pd);
        case Op::DeallocPd:
            return answer(call, m, dealloc_pd);
        case Op::RegMr:
            return answer(call, m, reg_mr);
        case Op::ReregMr:
            return answer(call, m, rereg_mr);
        case Op::DeregMr:
            return answer(call, m, dereg_mr);
        case Op::CreateCompChannel:
            return answer(call, m, create_channel);
        case Op::DestroyCompChannel:
            return answer(call, m, destroy_channel);
        case Op::CreateCq:
            return answer(call, m, create_cq);
        case Op::ResizeCq:
            return answer(call, m, resize_cq);
        case Op::DestroyCq:
            return answer(call, m, destroy_cq);
        case Op::CreateQp:
            return answer(call, m, create_qp);
        case Op::ModifyQp:
            return answer(call, m, modify_qp);
        case Op::QueryQp:
            return answer(call, m, query_qp);
        case Op::DestroyQp:
            return answer(call, m, destroy_qp);
        case Op::CreateSrq:
            return answer(call, m, create_srq);
        case Op::ModifySrq:
            return answer(call, m, modify_srq);
        case Op::QuerySrq:
            return answer(call, m, query_srq);
        case Op::DestroySrq:
            return answer(call, m, destroy_srq);
        case Op::CreateAh:
            return answer(call, m, create_ah);
        case Op::DestroyAh:
            return answer(call, m, destroy_ah);
        case Op::AttachMcast:
            return answer(call, m, attach_mcast);
        case Op::DetachMcast:
            return answer(call, m, detach_mcast);
        case Op::AllocMw:
            return answer(call, m, alloc_mw);
        case Op::DeallocMw:
            return answer(call, m, dealloc_mw);
        case Op::CreateFlow:
            return answer(call, m, create_flow);
        case Op::DestroyFlow:
            return answer(call, m, destroy_flow);
        case Op::OpenXrcd:
            return answer(call, m, open_xrcd);
        case Op::CloseXrcd:
            return answer(call, m, close_xrcd);
        case Op::AllocNullMr:
            return answer(call, m, alloc_null_mr);
        case Op::AdviseMr:
            return answer(call, m, advise_mr);
        case Op::AllocDm:
            return answer(call, m, alloc_dm);
        case Op::FreeDm:
            return answer(call, m, free_dm);
        case Op::RegDmMr:
            return answer(call, m, reg_dm_mr);
        case Op::OpenQp:
            return answer(call, m, open_qp);
        case Op::ReadCounter:
            return answer(call, m, read_counter);
        case Op::Explain:
            return answer(call, m, explain_failure);
        case Op::ReserveSlot:
            return answer(call, m, reserve_slot);
        case Op::Resolve:
            return answer(call, m, resolve);
        case Op::UnshareMemory:
            return answer(call, m, unshare_memory);
        case Op::OpenCm:
            return answer(call, m, open_cm);
        case Op::CommandCm:
            return answer(call, m, command_cm);
        case Op::CloseCm:
            return answer(call, m, close_cm);
        case Op::OpenGpus:
            return answer(call, m, open_gpus);
        case Op::UseGpu:
            return answer(call, m, use_gpu);
        case Op::RegDmaBufMr:
            return answer(call, m, reg_dma_buf_mr);
        case Op::Hello:
        case Op::kCount:
            break;
    }
    ControlReply out;
    out.hang_up = true;
    return out;
}

}  // namespace

ControlReply handle_request(Lab& lab, Client& client, std::span<const uint8_t> message, sim::SimTime now) {
    RequestHeader header;
    ControlReply refused;
    refused.hang_up = true;
    if (message.size() < sizeof header || message.size() > protocol::kMaxMessage) return refused;
    std::memcpy(&header, message.data(), sizeof header);
    if (header.magic != protocol::kMagic || header.bytes != message.size()) return refused;
    Call call{lab, client, now, {}, 0, {}, 0};
    if (ProgramFaults* faults = lab.faults(); faults != nullptr) {
        std::string why;
        call.wanted_error = faults->refuse(client.program, header.op, now, why);
        if (!why.empty()) lab.explain(client, why);
    }
    ControlReply reply = dispatch(call, header.op, message);
    ++lab.shared().processes[client.process].stats[static_cast<size_t>(protocol::Stat::ControlRequests)];
    if (call.why.rule != hca::Rule::None) lab.explain(client, hca::to_sentence(call.why));
    return reply;
}

ContextObject* Call::context(uint32_t handle) {
    ContextObject* found = client.contexts.find(handle);
    if (found != nullptr) cost_ps = found->hca->profile().cpu.control.in_ps();
    return found;
}

hca::ControlContext Call::by(const ContextObject& context) {
    return {context.owner, now, lab.config().explain ? &why : nullptr};
}

NewEventFd make_event_fd(Lab& lab, const Client& client) {
    NewEventFd made;
    rlimit limit{};
    (void)::getrlimit(RLIMIT_NOFILE, &limit);
    constexpr rlim_t kShare = 4;  // of all descriptors, at most, for one client
    if (*client.held_descriptors >= limit.rlim_cur / kShare) {
        made.error = EMFILE;
        return made;
    }
    made.server_end.held = HeldDescriptor(client.held_descriptors);
    int ends[2] = {-1, -1};
    if (::pipe2(ends, O_CLOEXEC) != 0) {
        made.error = errno;
        return made;
    }
    made.process_end = UniqueFd(ends[0]);
    made.server_end.write_end = UniqueFd(ends[1]);
    ::fcntl(ends[1], F_SETFL, O_NONBLOCK);  // the program's end has its own flags
    made.server_end.key = lab.next_fd_key();
    return made;
}

}  // namespace simverbs::server
