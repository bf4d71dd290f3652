#include "verbs_shim/client/verbs/ah.hpp"

#include "verbs_shim/client/verbs/call.hpp"

namespace simverbs::client::verbs {

ibv_ah* create_ah(ibv_pd* pd, ibv_ah_attr* attr) {
    return call_for_object(pd->context, [&](int& error) -> ibv_ah* {
        auto request = connection::make_request<protocol::CreateAhRequest>(protocol::Op::CreateAh);
        request.context = to_context(pd->context)->handle;
        request.pd = pd->handle;
        request.attr = *attr;
        protocol::HandleReply reply;
        error = control(request, reply);
        if (error != 0) return nullptr;
        auto* const ah = make_object<Ah>();
        if (ah == nullptr) {
            error = ENOMEM;
            return nullptr;
        }
        ah->ibv.context = pd->context;
        ah->ibv.pd = pd;
        ah->ibv.handle = reply.handle;
        return &ah->ibv;
    });
}

int destroy_ah(ibv_ah* ah) {
    return call(ah->context, [&] {
        if (const int error = destroy_object(protocol::Op::DestroyAh, ah->context, ah->handle)) return error;
        free_object(reinterpret_cast<Ah*>(ah));
        return 0;
    });
}

}  // namespace simverbs::client::verbs
