#include "verbs_shim/server/nic_sink.hpp"

#include <infiniband/verbs.h>

#include "verbs_shim/server/client.hpp"
#include "verbs_shim/server/lab.hpp"

namespace simverbs::server {

namespace {

template <class Map, class Key>
NicSink::Owned find_in(const Map& map, Key key) {
    const auto it = map.find(key);
    return it == map.end() ? NicSink::Owned{} : it->second;
}

/// What the process calls the object of an async event.
NicSink::Owned owner_of(const NicSink& sink, const hca::AsyncEvent& event) {
    switch (event.type) {
        case hca::EventType::CqErr:
            return find_in(sink.cqs, event.object);
        case hca::EventType::SrqErr:
        case hca::EventType::SrqLimitReached:
            return find_in(sink.srqs, event.object);
        case hca::EventType::QpFatal:
        case hca::EventType::QpReqErr:
        case hca::EventType::QpAccessErr:
        case hca::EventType::CommEst:
        case hca::EventType::SqDrained:
        case hca::EventType::PathMig:
        case hca::EventType::PathMigErr:
        case hca::EventType::QpLastWqeReached:
        case hca::EventType::WqFatal:
            return find_in(sink.qps, event.object);
        case hca::EventType::DeviceFatal:
        case hca::EventType::PortActive:
        case hca::EventType::PortErr:
        case hca::EventType::LidChange:
        case hca::EventType::PkeyChange:
        case hca::EventType::SmChange:
        case hca::EventType::ClientReregister:
        case hca::EventType::GidChange:
            return {nullptr, event.object};
    }
    return {};
}

}  // namespace

void NicSink::queue(Client& client, Delivery delivery, sim::SimTime visible_at) {
    delivery.stamp = visible_at;
    delivery.device = nic_;
    delivery.ordinal = ++ordinal_;
    client.deliveries.push(delivery);
    lab_->note_delivery();
}

void NicSink::on_cqe(hca::CqHandle cq, const hca::Cqe& cqe, sim::SimTime visible_at) {
    const Owned owned = find_in(cqs, cq);
    if (owned.client == nullptr) return;
    Delivery d;
    d.kind = DeliveryKind::Completion;
    d.object = owned.handle;
    d.cqe = cqe;
    queue(*owned.client, d, visible_at);
}

void NicSink::on_cq_event(hca::CqHandle cq, sim::SimTime visible_at) {
    const Owned owned = find_in(cqs, cq);
    if (owned.client == nullptr) return;
    const CqObject* object = owned.client->cqs.find(owned.handle);
    const ChannelObject* channel = object == nullptr ? nullptr : owned.client->channels.find(object->channel);
    if (channel == nullptr) return;
    Delivery d;
    d.kind = DeliveryKind::ChannelEvent;
    d.fd_key = channel->events.key;
    d.object = object->channel;
    d.event = {0, owned.handle};
    queue(*owned.client, d, visible_at);
}

void NicSink::on_async_event(const hca::AsyncEvent& event, sim::SimTime visible_at) {
    Owned owned = owner_of(*this, event);
    if (event.type == hca::EventType::CqErr && owned.client != nullptr && lab_->faults() != nullptr)
        lab_->faults()->on_cq_error(*owned.client, owned.handle, visible_at);
    for (const auto& [owner, context] : contexts) {
        const bool concerns = owned.client != nullptr ? owner == event.owner : event.owner == 0 || owner == event.owner;
        if (!concerns) continue;
        const ContextObject* object = context.client->contexts.find(context.handle);
        if (object == nullptr) continue;
        Delivery d;
        d.kind = DeliveryKind::ChannelEvent;
        d.fd_key = object->async.key;
        d.object = context.handle;
        d.event = {1U + static_cast<uint32_t>(event.type), owned.handle};
        queue(*context.client, d, visible_at);
    }
}

void NicSink::on_memory_written(host::AddressSpaceId space, uint64_t, uint64_t, bool part, sim::SimTime visible_at) {
    if (space >= host::kFirstGpuSpace && space != host::kNullSpace)
        return lab_->note_gpu_written(host_, visible_at, part);
    Client* client = lab_->client_of_space(space);
    if (client == nullptr) return;
    const sim::SimTime settled = lab_->engine().frontier() - lab_->down_latency();
    // Only what comes before all else changes whose turn is next.
    if (client->deliveries.push_written(visible_at, part, settled)) lab_->note_delivery();
}

void NicSink::on_incident(const hca::Incident& incident) {
    const Owned owned = find_in(qps, incident.qp_num);
    if (owned.client == nullptr) return;
    if (incident.from != incident.to && !incident.by_program) {
        Delivery d;
        d.kind = DeliveryKind::QueuePairState;
        d.object = owned.handle;
        d.qp_state = incident.to;
        queue(*owned.client, d, incident.at);
    }
    lab_->explain(*owned.client, hca::to_sentence(incident));
}

void NicSink::forget(const Client& client) {
    const auto is_his = [&](const auto& entry) { return entry.second.client == &client; };
    std::erase_if(cqs, is_his);
    std::erase_if(srqs, is_his);
    std::erase_if(qps, is_his);
    std::erase_if(contexts, is_his);
}

}  // namespace simverbs::server
