// Flow steering to raw packet QPs.
#pragma once

#include <infiniband/verbs.h>

namespace simverbs::client::verbs {

ibv_flow* create_flow(ibv_qp* qp, ibv_flow_attr* attr);
int destroy_flow(ibv_flow* flow);

}  // namespace simverbs::client::verbs
