// Protection domains.
#include "verbs_shim/client/verbs/pd.hpp"

#include "verbs_shim/exports/export.hpp"

SIMVERBS_EXPORT ibv_pd* ibv_alloc_pd(ibv_context* context) {
    if (!verbs::is_ours(context)) return SIMVERBS_FORWARD(ibv_alloc_pd, "IBVERBS_1.1", context);
    return verbs::alloc_pd(context);
}

SIMVERBS_EXPORT int ibv_dealloc_pd(ibv_pd* pd) {
    if (!verbs::is_ours(pd->context)) return SIMVERBS_FORWARD(ibv_dealloc_pd, "IBVERBS_1.1", pd);
    return verbs::dealloc_pd(pd);
}
