// Shared receive queues: control path.
#pragma once

#include <infiniband/verbs.h>

namespace simverbs::client::verbs {

ibv_srq* create_srq(ibv_pd* pd, ibv_srq_init_attr* attr);
ibv_srq* create_srq_ex(ibv_context* context, ibv_srq_init_attr_ex* attr);
int modify_srq(ibv_srq* srq, ibv_srq_attr* attr, int mask);
int query_srq(ibv_srq* srq, ibv_srq_attr* attr);
int get_srq_num(ibv_srq* srq, uint32_t* srq_num);
int destroy_srq(ibv_srq* srq);

}  // namespace simverbs::client::verbs
