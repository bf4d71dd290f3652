// TIMELY with a bound on the bytes in flight, as HPCC's evaluation compares itself with.
#include "models/cc/timely/timely.hpp"

namespace simverbs::cc {

extern const AlgorithmInfo kTimelyWindow;
constinit const AlgorithmInfo kTimelyWindow = {
    .name = "timely+window",
    .summary = "TIMELY and a window of line rate x base RTT",
    .parameters = timely::kSchemaWithWindow,
    .presets = timely::kPresets,
    .factory = [](const Values& v) -> std::unique_ptr<CongestionControl> {
        return timely::make_timely("timely+window", v);
    },
    .check = [](const Values& v) { return check_order(v, "t_low", "t_high"); },
};

}  // namespace simverbs::cc
