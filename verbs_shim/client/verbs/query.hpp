// What a program can ask of a device: attributes, ports, P_Keys, the HCA clock.
#pragma once

#include <infiniband/verbs.h>

namespace simverbs::client::verbs {

int query_device(ibv_context* context, ibv_device_attr* attr);
/// `attr_size`: what the caller's headers call sizeof(ibv_device_attr_ex); later fields are left out.
int query_device_ex(ibv_context* context, const ibv_query_device_ex_input* input, ibv_device_attr_ex* attr,
                    size_t attr_size);
int query_port(ibv_context* context, uint8_t port, ibv_port_attr* attr, size_t attr_size);
int query_pkey(ibv_context* context, uint8_t port, int index, __be16* pkey);
int get_pkey_index(ibv_context* context, uint8_t port, __be16 pkey);
int query_rt_values(ibv_context* context, ibv_values_ex* values);

}  // namespace simverbs::client::verbs
