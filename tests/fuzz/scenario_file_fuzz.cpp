// libFuzzer target: any bytes are the runs of a scenario or at least one diagnostic, never both, never neither.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "scenarios/lang/scenario_loader.hpp"

namespace {

using namespace simverbs::scenarios;

/// Of each kind of parameter one, with and without presets.
ScenarioOptions options() {
    ScenarioOptions o;
    o.lab.profiles = {{"cx7-400g"}, {"ndr-400g", LinkLayer::InfiniBand}, {"ideal", LinkLayer::Ethernet, "simverbs"}};
    KnownAlgorithm dcqcn{"dcqcn", "DCQCN.", {"paper", "hpcc-ns3"}, {}};
    dcqcn.parameters = {{"rpg_ai_rate", FieldKind::Rate, "40 Mb/s", "0 b/s", "1 Tb/s", "A rate."},
                        {"rpg_time_reset", FieldKind::Time, "55 us", "1 us", "131071 us", "A time."},
                        {"rpg_threshold", FieldKind::Integer, "5", "1", "31", "A number."},
                        {"late_cnps", FieldKind::Flag, "false", "", "", "A flag."}};
    KnownAlgorithm hpcc{"hpcc", "HPCC.", {}, {{"eta", FieldKind::Number, "0.95", "0.01", "1", "A share."}}};
    o.algorithms = {dcqcn, hpcc};
    return o;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    static const ScenarioOptions kOptions = options();
    DiagnosticSink sink;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto runs = parse_scenario(text, "fuzz.yaml", kOptions, sink);
    if (runs.has_value() != sink.empty()) std::abort();
    if (runs && runs->empty()) std::abort();
    return 0;
}
