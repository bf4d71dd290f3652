// Device list, open and close.
#include <cstdlib>
#include <cstring>

#include "verbs_shim/client/connection/connection.hpp"
#include "verbs_shim/client/turn/turn.hpp"
#include "verbs_shim/client/verbs/context.hpp"
#include "verbs_shim/exports/device_list.hpp"
#include "verbs_shim/exports/export.hpp"

using namespace simverbs::client;

SIMVERBS_EXPORT ibv_device** ibv_get_device_list(int* num_devices) {
    ibv_device** list = nullptr;
    int error = 0;
    {
        const turn::InShim in_shim;
        if (connection::lab() != nullptr) list = exports::make_device_list(num_devices, error);
    }
    if (connection::lab() == nullptr) return SIMVERBS_FORWARD(ibv_get_device_list, "IBVERBS_1.1", num_devices);
    if (list == nullptr) errno = error;
    return list;
}

SIMVERBS_EXPORT void ibv_free_device_list(ibv_device** list) {
    if (list == nullptr) return;
    if (connection::lab() == nullptr) return SIMVERBS_FORWARD(ibv_free_device_list, "IBVERBS_1.1", list);
    const turn::InShim in_shim;
    exports::free_device_list(list);
}

SIMVERBS_EXPORT const char* ibv_get_device_name(ibv_device* device) {
    return device->name;
}

SIMVERBS_EXPORT int ibv_get_device_index(ibv_device* device) {
    if (!verbs::is_ours(device)) return SIMVERBS_FORWARD(ibv_get_device_index, "IBVERBS_1.9", device);
    return static_cast<int>(verbs::index_of(device));
}

SIMVERBS_EXPORT __be64 ibv_get_device_guid(ibv_device* device) {
    if (!verbs::is_ours(device)) return SIMVERBS_FORWARD(ibv_get_device_guid, "IBVERBS_1.1", device);
    return verbs::info_of(device).node_guid;
}

SIMVERBS_EXPORT ibv_context* ibv_open_device(ibv_device* device) {
    if (!verbs::is_ours(device)) return SIMVERBS_FORWARD(ibv_open_device, "IBVERBS_1.1", device);
    return verbs::open_device(device);
}

SIMVERBS_EXPORT int ibv_close_device(ibv_context* context) {
    if (!verbs::is_ours(context)) return SIMVERBS_FORWARD(ibv_close_device, "IBVERBS_1.1", context);
    return verbs::close_device(context);
}
