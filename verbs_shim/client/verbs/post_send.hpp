// What ibv_post_send and ibv_bind_mw share.
#pragma once

#include <infiniband/verbs.h>

namespace simverbs::client::verbs {

/// Windows of type 1 are bound by ibv_bind_mw, those of type 2 by work requests.
enum class BindOf { Type1, Type2 };

int post_list(ibv_qp* qp, ibv_send_wr* wr, ibv_send_wr** bad, BindOf bind_of);

}  // namespace simverbs::client::verbs
