// DCQCN with a bound on the bytes in flight, as HPCC's evaluation compares itself with.
#include "models/cc/dcqcn/dcqcn.hpp"
#include "models/cc/dcqcn/dcqcn_schema.hpp"

namespace simverbs::cc {

extern const AlgorithmInfo kDcqcnWindow;
constinit const AlgorithmInfo kDcqcnWindow = {
    .name = "dcqcn+window",
    .summary = "DCQCN and a window of line rate x base RTT",
    .parameters = dcqcn::kSchemaWithWindow,
    .presets = dcqcn::kPresets,
    .factory = [](const Values& v) -> std::unique_ptr<CongestionControl> {
        return dcqcn::make_dcqcn("dcqcn+window", v);
    },
};

}  // namespace simverbs::cc
