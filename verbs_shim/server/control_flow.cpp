// Raw packet QPs: who may have them, and which frames they get.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <span>
#include <string>

#include "verbs_shim/server/control.hpp"

namespace simverbs::server {

bool may_use_raw_packets(pid_t pid) {
    constexpr uint64_t kNetRaw = 1U << 13;  // CAP_NET_RAW
    constexpr std::string_view kEffective = "CapEff:\t";
    std::ifstream status(fmt::format("/proc/{}/status", pid));
    for (std::string line; std::getline(status, line);) {
        if (!line.starts_with(kEffective)) continue;
        uint64_t set = 0;
        std::from_chars(line.data() + kEffective.size(), line.data() + line.size(), set, 16);
        return (set & kNetRaw) != 0;
    }
    return false;
}

int create_flow(Call& call, const protocol::CreateFlowRequest& request, protocol::HandleReply& reply) {
    const QpObject* qp = call.client.qps.find(request.qp);
    ContextObject* context = qp == nullptr ? nullptr : call.context(qp->context);
    if (context == nullptr || request.type > static_cast<uint32_t>(hca::SteeringType::Sniffer)) return EINVAL;
    if (!may_use_raw_packets(call.client.pid)) return EPERM;
    hca::SteeringRule rule;
    static_assert(sizeof request.value == hca::FramePattern::kBytes);
    rule.type = static_cast<hca::SteeringType>(request.type);
    rule.priority = request.priority;
    rule.port_num = static_cast<uint8_t>(std::min<uint16_t>(request.port, UINT8_MAX));
    std::ranges::copy(request.value, rule.pattern.value.begin());
    std::ranges::copy(request.mask, rule.pattern.mask.begin());
    if (request.queues != 0) {
        if (request.queues > protocol::kMostQueues || !std::has_single_bit(request.queues)) return EINVAL;
        hca::ReceiveSideScaling& spread = rule.spread.emplace();
        for (const uint32_t handle : std::span(request.queue).first(request.queues)) {
            const QpObject* queue = call.client.qps.find(handle);
            if (queue == nullptr || queue->context != qp->context) return EINVAL;
            spread.queues.push_back(queue->qp_num);
        }
        spread.fields = request.hash_fields & hca::kAllHashFields;
        static_assert(sizeof request.hash_key == hca::kToeplitzKeyBytes);
        std::ranges::copy(request.hash_key, spread.key.begin());
    }
    const auto made = context->hca->create_steering(call.by(*context), qp->qp_num, rule);
    if (!made.ok()) return made.error;
    reply.handle = call.client.flows.add({qp->context, request.qp, made.value});
    return reply.handle == 0 ? ENOMEM : 0;
}

int destroy_flow(Call& call, const protocol::ObjectRequest& request, protocol::ReplyHeader&) {
    const FlowObject* flow = call.client.flows.find(request.handle);
    ContextObject* context = flow == nullptr ? nullptr : call.context(flow->context);
    if (context == nullptr) return EINVAL;
    const int error = context->hca->destroy_steering(call.by(*context), flow->steering);
    if (error == 0) call.client.flows.remove(request.handle);
    return error;
}

}  // namespace simverbs::server
