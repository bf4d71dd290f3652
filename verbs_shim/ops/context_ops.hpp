// The operation tables of a context: ibv_context::ops and verbs_context, which the inline functions of verbs.h call.
#pragma once

#include <infiniband/verbs.h>

namespace simverbs::client::ops {

/// Fills every operation pointer: none is null afterwards. What the device lacks answers EOPNOTSUPP.
void fill_context(verbs_context& context);

/// First the answers of everything that is not supported.
void fill_unsupported(verbs_context& context);

}  // namespace simverbs::client::ops
