// From stamped deliveries to what a program sees: its CQ rings, its event fds.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "verbs_shim/server/cm/rdma_cm.hpp"
#include "verbs_shim/server/lab.hpp"
#include "verbs_shim/server/shared_objects.hpp"

namespace simverbs::server {

uint64_t Lab::apply_deliveries(Client& client, sim::SimTime clock) {
    uint64_t applied = 0;
    sim::SimTime last = sim::SimTime::zero();
    while (client.deliveries.next_queued() <= clock) {
        const Delivery delivery = client.deliveries.pop();
        apply(client, delivery);
        last = delivery.stamp;
        ++applied;
    }
    sim::SimTime written = sim::SimTime::zero();
    if (client.deliveries.pop_written(clock, written)) ++applied;
    last = std::max(last, written);
    client.whole_count += applied;
    if (client.deliveries.pop_parts(clock, written)) ++applied;
    last = std::max(last, written);
    if (applied > 0) client.visible_stamp_ps = last.in_ps();
    client.visible_count += applied;
    return applied;
}

void Lab::before_turn(Client& client, sim::SimTime clock) {
    mover_->before_turn(client.space, clock);
    if (client.gpus == nullptr || !client.gpus->looks_at_gpus) return;
    GpuHost& gpus = *hosts_[client.host].gpus;
    for (uint32_t gpu = 0; gpu < gpus.size(); ++gpu) mover_->before_turn(gpus.memory(gpu).space(), clock);
}

sim::SimTime Lab::next_visible(const Client& client) const {
    sim::SimTime next = mover_->next_visible(client.space);
    if (client.gpus == nullptr || !client.gpus->looks_at_gpus) return next;
    GpuHost& gpus = *hosts_[client.host].gpus;
    for (uint32_t gpu = 0; gpu < gpus.size(); ++gpu)
        next = std::min(next, mover_->next_visible(gpus.memory(gpu).space()));
    return next;
}

void Lab::note_gpu_written(uint32_t host, sim::SimTime visible_at, bool part) {
    const sim::SimTime settled = engine_->frontier() - down_latency_;
    for (auto& [process, client] : clients_) {
        if (client->host != host || client->gpus == nullptr || !client->gpus->looks_at_gpus) continue;
        if (client->deliveries.push_written(visible_at, part, settled)) note_delivery();
    }
}

void Lab::apply(Client& client, const Delivery& delivery) {
    switch (delivery.kind) {
        case DeliveryKind::Completion:
            apply_completion(client, delivery);
            return;
        case DeliveryKind::ChannelEvent: {
            EventFd* fd = nullptr;
            if (delivery.event.kind == 0) {
                if (ChannelObject* channel = client.channels.find(delivery.object)) fd = &channel->events;
            } else if (ContextObject* context = client.contexts.find(delivery.object)) {
                fd = &context->async;
            }
            if (fd != nullptr && fd->key == delivery.fd_key) write_event(*fd, delivery.event, delivery.stamp.in_ps());
            return;
        }
        case DeliveryKind::CmEvent:
            rdma_cm_->deliver(client, delivery.object, delivery.stamp.in_ps());
            return;
        case DeliveryKind::GpuProgress:
            bump_object(*page_, delivery.fd_key, delivery.stamp.in_ps());
            return;
        case DeliveryKind::QueuePairState:
            if (QpObject* qp = client.qps.find(delivery.object)) {
                qp->state = delivery.qp_state;
                if (qp->sq.valid())
                    qp->sq.header->state.store(static_cast<uint32_t>(delivery.qp_state), std::memory_order_release);
                if (qp->rq.valid())
                    qp->rq.header->state.store(static_cast<uint32_t>(delivery.qp_state), std::memory_order_release);
            }
            return;
    }
}

void Lab::apply_completion(Client& client, const Delivery& delivery) {
    CqObject* cq = client.cqs.find(delivery.object);
    if (cq == nullptr) return;  // destroyed meanwhile
    const hca::Cqe& cqe = delivery.cqe;
    const uint32_t consumed = cq->ring.header->consumed.load(std::memory_order_acquire);
    if (cq->produced - consumed >= cq->ring.capacity) {
        cq->ring.header->state.store(1, std::memory_order_release);  // overrun
        return;
    }
    protocol::CqSlot slot;
    slot.wr_id = cqe.wr_id;
    slot.timestamp = static_cast<uint64_t>(cqe.timestamp.in_ps() / 1000);
    slot.status = static_cast<uint32_t>(cqe.status);
    slot.opcode = static_cast<uint32_t>(cqe.opcode);
    slot.vendor_err = cqe.vendor_err;
    slot.byte_len = cqe.byte_len;
    slot.imm_or_rkey = cqe.imm_or_rkey;
    slot.qp_num = cqe.qp_num;
    slot.src_qp = cqe.src_qp;
    slot.queue_tail = cqe.queue_tail;
    slot.pkey_index = cqe.pkey_index;
    slot.slid = cqe.slid;
    slot.wc_flags = cqe.wc_flags;
    slot.sl = cqe.sl;
    slot.dlid_path_bits = cqe.dlid_path_bits;
    slot.is_send = cqe.is_send ? 1 : 0;
    const NicSink& sink = *hosts_[client.host].nics[delivery.device].sink;
    const auto owned = sink.qps.find(cqe.qp_num);
    if (const QpObject* qp = owned == sink.qps.end() ? nullptr : client.qps.find(owned->second.handle)) {
        if (cqe.is_send)
            slot.queue_tail += qp->sq_base;
        else if (cqe.srq == 0)
            slot.queue_tail += qp->rq_base;
    }
    if (cqe.srq != 0) {
        const auto srq = sink.srqs.find(cqe.srq);
        if (srq != sink.srqs.end() && srq->second.client == &client) slot.srq = srq->second.handle;
    }
    std::memcpy(cq->ring.slot(cq->produced), &slot, sizeof slot);
    cq->ring.header->produced.store(++cq->produced, std::memory_order_release);
    if (std::find(client.unconsumed_cqs.begin(), client.unconsumed_cqs.end(), delivery.object) ==
        client.unconsumed_cqs.end())
        client.unconsumed_cqs.push_back(delivery.object);
}

void Lab::write_event(EventFd& fd, const protocol::ChannelEvent& event, int64_t stamp_ps) {
    fd.backlog.push_back(event);
    // A pipe holds 8192 of these; a program that reads none has the rest waiting here.
    while (!fd.backlog.empty()) {
        if (::write(fd.write_end.get(), &fd.backlog.front(), sizeof event) != sizeof event) {
            if (errno == EPIPE) fd.backlog.clear();  // the program has closed its end
            break;
        }
        fd.backlog.erase(fd.backlog.begin());
    }
    bump_object(*page_, fd.key, stamp_ps);
}

}  // namespace simverbs::server
