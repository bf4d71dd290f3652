// Address handles.
#pragma once

#include <infiniband/verbs.h>

namespace simverbs::client::verbs {

ibv_ah* create_ah(ibv_pd* pd, ibv_ah_attr* attr);
int destroy_ah(ibv_ah* ah);

/// 0 or -1 with errno, as ibv_init_ah_from_wc does.
int init_ah_from_wc(ibv_context* context, uint8_t port, const ibv_wc& wc, const ibv_grh* grh, ibv_ah_attr* attr);

/// MAC address (and no VLAN: 0xFFFF) behind a GID on a RoCE port; 0 or -1 with errno.
int resolve_eth_l2_from_gid(ibv_context* context, const ibv_ah_attr& attr, uint8_t mac[6], uint16_t* vid);

}  // namespace simverbs::client::verbs
