// Completion channels and completion queues.
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "verbs_shim/server/control.hpp"

namespace simverbs::server {

int create_channel(Call& call, const protocol::ObjectRequest& request, protocol::CompChannelReply& reply) {
    if (call.context(request.context) == nullptr) return EINVAL;
    NewEventFd made = make_event_fd(call.lab, call.client);
    if (made.error != 0) return made.error;
    ChannelObject channel;
    channel.context = request.context;
    channel.events = std::move(made.server_end);
    reply.key = channel.events.key;
    reply.handle = call.client.channels.add(std::move(channel));
    if (reply.handle == 0) return ENOMEM;
    call.fds.push_back(std::move(made.process_end));
    return 0;
}

int destroy_channel(Call& call, const protocol::ObjectRequest& request, protocol::ReplyHeader&) {
    const ChannelObject* channel = call.client.channels.find(request.handle);
    if (channel == nullptr || call.context(channel->context) == nullptr) return EINVAL;
    if (channel->num_cqs != 0) return EBUSY;
    call.client.channels.remove(request.handle);
    return 0;
}

int create_cq(Call& call, const protocol::CreateCqRequest& request, protocol::CreateCqReply& reply) {
    ContextObject* context = call.context(request.context);
    if (context == nullptr) return EINVAL;
    ChannelObject* channel = nullptr;
    if (request.channel != 0) {
        channel = call.client.channels.find(request.channel);
        if (channel == nullptr || channel->context != request.context) return EINVAL;
    }
    const auto by = call.by(*context);
    const auto cq = context->hca->create_cq(by, {request.cqe, channel != nullptr, call.client.memory_node});
    if (!cq.ok()) return cq.error;
    const auto capacity = context->hca->cq_capacity(by, cq.value);
    const auto ring = call.client.arena->allocate(capacity.value, sizeof(protocol::CqSlot));
    uint32_t handle = 0;
    if (ring) {
        CqObject object;
        object.context = request.context;
        object.cq = cq.value;
        object.channel = request.channel;
        object.entries = capacity.value;
        object.ring = *ring;
        handle = call.client.cqs.add(std::move(object));
    }
    if (handle == 0) {
        (void)context->hca->destroy_cq({context->owner, call.now, nullptr}, cq.value);
        return ENOMEM;
    }
    if (channel != nullptr) ++channel->num_cqs;
    if (ProgramFaults* faults = call.lab.faults(); faults != nullptr) {
        const uint32_t limit = faults->on_new_cq(call.client, handle, *call.client.cqs.find(handle));
        if (limit != 0) (void)context->hca->limit_cq(cq.value, limit);
    }
    call.nic(*context).sink->cqs[cq.value] = {&call.client, handle};
    reply.handle = handle;
    reply.cqe = capacity.value;
    reply.ring = ring->ref();
    return 0;
}

int resize_cq(Call& call, const protocol::CreateCqRequest& request, protocol::CreateCqReply& reply) {
    CqObject* cq = call.client.cqs.find(request.handle);
    ContextObject* context = cq == nullptr ? nullptr : call.context(cq->context);
    if (context == nullptr) return EINVAL;
    const uint32_t consumed = cq->ring.header->consumed.load(std::memory_order_acquire);
    const uint32_t unpolled = cq->produced - consumed;
    if (unpolled > cq->ring.capacity) return EINVAL;
    const auto by = call.by(*context);
    if (const int error = context->hca->resize_cq(by, cq->cq, request.cqe); error != 0) return error;
    const auto capacity = context->hca->cq_capacity(by, cq->cq);
    const ProgramFaults* faults = call.lab.faults();
    const uint32_t limit = faults == nullptr ? 0 : faults->limit_of(call.client, request.handle);
    if (limit != 0) (void)context->hca->limit_cq(cq->cq, limit);
    // What is on its way (not yet visible) must fit, too: the ring is never smaller than before.
    const auto ring =
        call.client.arena->allocate(std::max(capacity.value, cq->ring.capacity), sizeof(protocol::CqSlot));
    if (!ring) return ENOMEM;
    for (uint32_t i = consumed; i != cq->produced; ++i)
        std::memcpy(ring->slot(i), cq->ring.slot(i), sizeof(protocol::CqSlot));
    ring->header->produced.store(cq->produced);
    ring->header->consumed.store(consumed);
    ring->header->state.store(cq->ring.header->state.load());
    ring->header->aux.store(cq->ring.header->aux.load());
    call.client.arena->release(cq->ring);
    cq->ring = *ring;
    cq->entries = capacity.value;
    reply.handle = request.handle;
    reply.cqe = capacity.value;
    reply.ring = ring->ref();
    return 0;
}

int destroy_cq(Call& call, const protocol::ObjectRequest& request, protocol::DestroyReply&) {
    CqObject* cq = call.client.cqs.find(request.handle);
    ContextObject* context = cq == nullptr ? nullptr : call.context(cq->context);
    if (context == nullptr) return EINVAL;
    if (const int error = context->hca->destroy_cq(call.by(*context), cq->cq); error != 0) return error;
    call.nic(*context).sink->cqs.erase(cq->cq);
    if (ChannelObject* channel = call.client.channels.find(cq->channel)) --channel->num_cqs;
    call.client.arena->release(cq->ring);
    call.client.cqs.remove(request.handle);
    if (ProgramFaults* faults = call.lab.faults(); faults != nullptr) faults->on_cq_gone(call.client, request.handle);
    return 0;
}

}  // namespace simverbs::server
