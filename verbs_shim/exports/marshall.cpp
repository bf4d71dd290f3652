// Conversions between kernel and user structs, used by librdmacm. They know no device: the real library's are right.
#include "verbs_shim/exports/export.hpp"

// Declared in no public header; each takes the destination, then the source.
SIMVERBS_EXPORT void ibv_copy_ah_attr_from_kern(void* to, void* from);
SIMVERBS_EXPORT void ibv_copy_path_rec_from_kern(void* to, void* from);
SIMVERBS_EXPORT void ibv_copy_path_rec_to_kern(void* to, void* from);
SIMVERBS_EXPORT void ibv_copy_qp_attr_from_kern(void* to, void* from);

SIMVERBS_EXPORT void ibv_copy_ah_attr_from_kern(void* to, void* from) {
    SIMVERBS_FORWARD(ibv_copy_ah_attr_from_kern, "IBVERBS_1.1", to, from);
}

SIMVERBS_EXPORT void ibv_copy_path_rec_from_kern(void* to, void* from) {
    SIMVERBS_FORWARD(ibv_copy_path_rec_from_kern, "IBVERBS_1.0", to, from);
}

SIMVERBS_EXPORT void ibv_copy_path_rec_to_kern(void* to, void* from) {
    SIMVERBS_FORWARD(ibv_copy_path_rec_to_kern, "IBVERBS_1.0", to, from);
}

SIMVERBS_EXPORT void ibv_copy_qp_attr_from_kern(void* to, void* from) {
    SIMVERBS_FORWARD(ibv_copy_qp_attr_from_kern, "IBVERBS_1.0", to, from);
}
