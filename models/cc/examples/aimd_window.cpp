// The example of docs/add_your_own_algorithm.md: a window that grows by a packet a round trip and shrinks on marks.
#include <algorithm>
#include <array>
#include <memory>
#include <new>

#include "models/cc/parameters.hpp"

namespace simverbs::cc {

namespace {

/// What a QP remembers between ACKs.
struct AimdState {
    double window = 0;        ///< payload bytes
    wire::Psn reduced_until;  ///< at most one decrease a round trip: none before this is acknowledged
    bool reduced = false;
};

class AimdWindow final : public CongestionControlWith<AimdState> {
  public:
    AimdWindow(double increase, double decrease) noexcept : increase_(increase), decrease_(decrease) {}

    [[nodiscard]] std::string_view name() const noexcept override { return "aimd-window"; }
    [[nodiscard]] Needs needs() const noexcept override { return {.ecn_echo = true}; }

    void start(void* state, const PathFacts& path, Control& control) const noexcept override {
        AimdState& s = *new (state) AimdState{};
        s.window = static_cast<double>(full_window(path));
        control = Control{.rate = path.line_rate, .window_bytes = full_window(path)};
    }

    void on_ack(void* state, const PathFacts& path, const Ack& ack, Control& control) const noexcept override {
        AimdState& s = in(state);
        if (s.reduced && is_past(ack.ack_psn, s.reduced_until)) s.reduced = false;
        if (!ack.ecn_echo) {
            // Packets a round trip: each acknowledged byte brings its share of one window.
            const double gain = increase_ * path.payload_bytes * static_cast<double>(ack.acked_bytes) / s.window;
            set_window(s, s.window + gain, path, control);
        } else if (!s.reduced) {
            s.reduced = true;
            s.reduced_until = ack.next_psn;
            set_window(s, s.window * decrease_, path, control);
        }
    }

    void on_timeout(void* state, const PathFacts& path, sim::SimTime, Control& control) const noexcept override {
        set_window(in(state), 0, path, control);
    }

  private:
    static void set_window(AimdState& s, double window, const PathFacts& path, Control& control) noexcept {
        s.window = std::clamp(window, static_cast<double>(path.payload_bytes),
                              std::max<double>(static_cast<double>(full_window(path)), path.payload_bytes));
        control.window_bytes = static_cast<int64_t>(s.window);
    }

    double increase_;
    double decrease_;
};

constexpr auto kAimdSchema = std::to_array<ParameterInfo>({
    {"increase", ParameterKind::Fraction, 1, "1", 0, 1000, "packets that the window gains a round trip"},
    {"decrease", ParameterKind::Fraction, 0.5, "0.5", 0, 1, "what a round trip with marks leaves of the window"},
});

}  // namespace

extern const AlgorithmInfo kAimdWindow;
constinit const AlgorithmInfo kAimdWindow = {
    .name = "aimd-window",
    .summary = "example: additive increase, multiplicative decrease of a window",
    .parameters = kAimdSchema,
    .factory = [](const Values& v) -> std::unique_ptr<CongestionControl> {
        return std::make_unique<AimdWindow>(v.number("increase"), v.number("decrease"));
    },
};

}  // namespace simverbs::cc
