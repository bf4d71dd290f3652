// No congestion control: the line rate, always.
#include <memory>
#include <new>

#include "models/cc/parameters.hpp"

namespace simverbs::cc {

namespace {

struct NoState {};

class NoCongestionControl final : public CongestionControlWith<NoState> {
  public:
    [[nodiscard]] std::string_view name() const noexcept override { return "none"; }
    [[nodiscard]] Needs needs() const noexcept override { return {}; }
    void start(void* /*state*/, const PathFacts& path, Control& control) const noexcept override {
        control = Control{.rate = path.line_rate};
    }
};

}  // namespace

extern const AlgorithmInfo kNone;
constinit const AlgorithmInfo kNone = {
    .name = "none",
    .summary = "no congestion control: always the line rate",
    .factory = [](const Values&) -> std::unique_ptr<CongestionControl> {
        return std::make_unique<NoCongestionControl>();
    },
};

}  // namespace simverbs::cc
