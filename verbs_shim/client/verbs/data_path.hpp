// Post, poll and notify: shared memory only, no system call, no allocation. Errors as a mlx5 or rxe device gives them.
#pragma once

#include <infiniband/verbs.h>

#include "verbs_shim/client/verbs/objects.hpp"

namespace simverbs::client::verbs {

/// 0 or an errno; `*bad` is then the first work request that was not posted.
int post_send(ibv_qp* qp, ibv_send_wr* wr, ibv_send_wr** bad);
int post_recv(ibv_qp* qp, ibv_recv_wr* wr, ibv_recv_wr** bad);
int post_srq_recv(ibv_srq* srq, ibv_recv_wr* wr, ibv_recv_wr** bad);

/// Completions taken, 0 if there are none, -EIO if there will never be any (server gone, inherited through a fork).
int poll_cq(ibv_cq* cq, int num_entries, ibv_wc* wc);
int req_notify_cq(ibv_cq* cq, int solicited_only);

/// Fills the ibv_wr_* and ibv_start_poll … pointers.
void fill_wr_api(ibv_qp_ex& qp);
void fill_poll_api(ibv_cq_ex& cq);

/// The QP is gone or in RESET: its completions that nobody has polled disappear from the CQ.
void forget_completions(Cq& cq, Qp& qp);

}  // namespace simverbs::client::verbs
