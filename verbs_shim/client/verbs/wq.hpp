// Work queues, indirection tables and the QPs that spread frames over them (receive side scaling).
#pragma once

#include <infiniband/verbs.h>

namespace simverbs::client::verbs {

ibv_wq* create_wq(ibv_context* context, ibv_wq_init_attr* attr);
int modify_wq(ibv_wq* wq, ibv_wq_attr* attr);
int destroy_wq(ibv_wq* wq);
ibv_rwq_ind_table* create_rwq_ind_table(ibv_context* context, ibv_rwq_ind_table_init_attr* attr);
int destroy_rwq_ind_table(ibv_rwq_ind_table* table);
/// A QP with an indirection table; null with errno set if it cannot be.
ibv_qp* create_rss_qp(ibv_context* context, ibv_qp_init_attr_ex* attr);

}  // namespace simverbs::client::verbs
