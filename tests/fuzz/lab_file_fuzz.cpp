// libFuzzer target: any bytes are a lab or at least one diagnostic, never both, never neither.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "scenarios/lang/lab_loader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace simverbs::scenarios;
    DiagnosticSink sink;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    LabOptions options;
    options.profiles = {{"cx7-400g"}, {"ndr-400g", LinkLayer::InfiniBand}, {"ideal", LinkLayer::Ethernet, "simverbs"}};
    const auto lab = parse_lab(text, "fuzz.yaml", options, sink);
    if (lab.has_value() != sink.empty()) std::abort();
    return 0;
}
