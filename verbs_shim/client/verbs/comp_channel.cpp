#include "verbs_shim/client/verbs/acknowledged.hpp"
#include "verbs_shim/client/verbs/call.hpp"
#include "verbs_shim/client/verbs/cq.hpp"
#include "verbs_shim/client/verbs/event_fd.hpp"
#include "verbs_shim/client/verbs/explain.hpp"

namespace simverbs::client::verbs {

namespace {

CompChannel* to_channel(ibv_comp_channel* c) {
    return reinterpret_cast<CompChannel*>(c);
}

}  // namespace

ibv_comp_channel* create_comp_channel(ibv_context* context) {
    return call_for_object(context, [&](int& error) -> ibv_comp_channel* {
        auto request = object_request(protocol::Op::CreateCompChannel, context, 0);
        protocol::CompChannelReply reply;
        int fd = -1;
        error = control(request, reply, &fd, 1);
        if (error != 0) return nullptr;
        auto* const channel = make_object<CompChannel>();
        if (channel == nullptr) {
            error = ENOMEM;
            return nullptr;
        }
        channel->ibv.context = context;
        channel->ibv.fd = fd;
        channel->handle = reply.handle;
        channel->key = reply.key;
        adopt_event_fd(fd, reply.key);
        return &channel->ibv;
    });
}

int destroy_comp_channel(ibv_comp_channel* channel) {
    return call(channel->context, [&] {
        CompChannel* const c = to_channel(channel);
        if (channel->refcnt != 0) {
            return explain(EBUSY, "ibv_destroy_comp_channel: %d CQs still use the channel. Destroy them first.",
                           channel->refcnt);
        }
        const int error = destroy_object(protocol::Op::DestroyCompChannel, channel->context, c->handle);
        if (error != 0) return error;
        close_event_fd(channel->fd);
        free_object(c);
        return 0;
    });
}

int get_cq_event(ibv_comp_channel* channel, ibv_cq** cq, void** cq_context) {
    Cq* found = nullptr;
    int error = 0;
    {
        const turn::InShim in_shim;
        Context& context = *to_context(channel->context);
        if (context.epoch != connection::epoch()) error = EIO;
        while (error == 0 && found == nullptr) {
            protocol::ChannelEvent event;
            error = read_event(channel->fd, to_channel(channel)->key, "ibv_get_cq_event", event);
            if (error == 0 && event.kind == 0) found = context.cqs.find(event.object);  // null: destroyed meanwhile
        }
    }
    if (error != 0) {
        errno = error;
        return -1;
    }
    hand_out(found->ibv.mutex, found->events_handed_out);
    *cq = found->cq();
    *cq_context = found->ibv.cq_context;
    return 0;
}

void ack_cq_events(ibv_cq* cq, unsigned nevents) {
    acknowledge(cq->mutex, cq->cond, cq->comp_events_completed, nevents);
}

}  // namespace simverbs::client::verbs
