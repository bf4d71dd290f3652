// Queue pairs: control path.
#pragma once

#include <infiniband/verbs.h>

namespace simverbs::client::verbs {

ibv_qp* create_qp(ibv_pd* pd, ibv_qp_init_attr* attr);
ibv_qp* open_qp(ibv_context* context, ibv_qp_open_attr* attr);
int set_ece(ibv_qp* qp, const ibv_ece& ece);
int query_ece(ibv_qp* qp, ibv_ece& ece);
ibv_qp* create_qp_ex(ibv_context* context, ibv_qp_init_attr_ex* attr);
int modify_qp(ibv_qp* qp, ibv_qp_attr* attr, int mask);
int query_qp(ibv_qp* qp, ibv_qp_attr* attr, int mask, ibv_qp_init_attr* init);
int destroy_qp(ibv_qp* qp);
/// Null unless the QP was created with IBV_QP_INIT_ATTR_SEND_OPS_FLAGS.
ibv_qp_ex* qp_to_qp_ex(ibv_qp* qp);

int attach_mcast(ibv_qp* qp, const ibv_gid* gid, uint16_t lid);
int detach_mcast(ibv_qp* qp, const ibv_gid* gid, uint16_t lid);

}  // namespace simverbs::client::verbs
