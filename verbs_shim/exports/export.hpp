// What an exported function looks like: checks whose object it is, forwards to client/verbs or to the real library,
// translates the result. The library is built without exceptions: nothing can escape into C.
#pragma once

#include <infiniband/verbs.h>

#include "verbs_shim/client/verbs/device_table.hpp"
#include "verbs_shim/exports/real_library.hpp"

// The inline wrappers of verbs.h must not stand between us and the functions that we define.
#undef ibv_reg_mr
#undef ibv_reg_mr_iova
#undef ibv_query_port
#undef ibv_get_device_list

#define SIMVERBS_EXPORT extern "C" __attribute__((visibility("default")))

namespace verbs = simverbs::client::verbs;
