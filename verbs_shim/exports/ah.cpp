// Address handles.
#include "verbs_shim/client/verbs/ah.hpp"

#include "verbs_shim/exports/export.hpp"

SIMVERBS_EXPORT ibv_ah* ibv_create_ah(ibv_pd* pd, ibv_ah_attr* attr) {
    if (!verbs::is_ours(pd->context)) return SIMVERBS_FORWARD(ibv_create_ah, "IBVERBS_1.1", pd, attr);
    return verbs::create_ah(pd, attr);
}

SIMVERBS_EXPORT int ibv_destroy_ah(ibv_ah* ah) {
    if (!verbs::is_ours(ah->context)) return SIMVERBS_FORWARD(ibv_destroy_ah, "IBVERBS_1.1", ah);
    return verbs::destroy_ah(ah);
}

SIMVERBS_EXPORT int ibv_init_ah_from_wc(ibv_context* context, uint8_t port_num, ibv_wc* wc, ibv_grh* grh,
                                        ibv_ah_attr* attr) {
    if (!verbs::is_ours(context)) {
        return SIMVERBS_FORWARD(ibv_init_ah_from_wc, "IBVERBS_1.1", context, port_num, wc, grh, attr);
    }
    return verbs::init_ah_from_wc(context, port_num, *wc, grh, attr);
}

SIMVERBS_EXPORT ibv_ah* ibv_create_ah_from_wc(ibv_pd* pd, ibv_wc* wc, ibv_grh* grh, uint8_t port_num) {
    if (!verbs::is_ours(pd->context)) {
        return SIMVERBS_FORWARD(ibv_create_ah_from_wc, "IBVERBS_1.1", pd, wc, grh, port_num);
    }
    ibv_ah_attr attr;
    if (verbs::init_ah_from_wc(pd->context, port_num, *wc, grh, &attr) != 0) return nullptr;
    return verbs::create_ah(pd, &attr);
}

SIMVERBS_EXPORT int ibv_resolve_eth_l2_from_gid(ibv_context* context, ibv_ah_attr* attr,
                                                uint8_t eth_mac[ETHERNET_LL_SIZE], uint16_t* vid) {
    if (!verbs::is_ours(context)) {
        return SIMVERBS_FORWARD(ibv_resolve_eth_l2_from_gid, "IBVERBS_1.1", context, attr, eth_mac, vid);
    }
    return verbs::resolve_eth_l2_from_gid(context, *attr, eth_mac, vid);
}
