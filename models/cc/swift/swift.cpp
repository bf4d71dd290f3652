// Swift: a window that keeps the delay at a target.
#include <array>
#include <memory>
#include <new>

#include "models/cc/parameters.hpp"
#include "models/cc/swift/swift_arithmetic.hpp"

namespace simverbs::cc {

namespace swift {

namespace {

struct SwiftState {
    double cwnd = 1;  ///< packets
    double max_cwnd = 1;
    sim::SimTime rtt;  ///< of the last ACK
    sim::SimTime last_decrease;
    int64_t timeouts = 0;  ///< in a row
    bool has_decreased = false;
};

/// One delay for the whole path: the fabric's share of Swift, where endpoint delays are not modelled as congestion.
class Swift final : public CongestionControlWith<SwiftState> {
  public:
    explicit Swift(const SwiftParams& params) noexcept : p_(params) {}

    [[nodiscard]] std::string_view name() const noexcept override { return "swift"; }
    [[nodiscard]] Needs needs() const noexcept override { return {.rtt = true}; }

    void start(void* state, const PathFacts& path, Control& control) const noexcept override {
        SwiftState& s = *new (state) SwiftState{};
        const auto packets = [&](sim::SimTime time) {
            return std::max(1.0, static_cast<double>(bytes_in(path.line_rate, time)) / path.packet_bytes);
        };
        s.max_cwnd = p_.max_cwnd > 0 ? static_cast<double>(p_.max_cwnd) : packets(path.base_rtt + p_.base_target);
        // An RDMA sender starts at the line rate.
        s.cwnd = std::min(packets(path.base_rtt), s.max_cwnd);
        s.rtt = path.base_rtt;
        control = Control{};
        publish(s, path, control);
    }

    void on_ack(void* state, const PathFacts& path, const Ack& ack, Control& control) const noexcept override {
        SwiftState& s = in(state);
        if (ack.rtt == sim::SimTime::zero()) return;
        s.rtt = ack.rtt;
        s.timeouts = 0;
        const sim::SimTime target = target_delay(s.cwnd, path.hops, p_);
        if (ack.rtt < target) {
            const double acked = static_cast<double>(ack.acked_bytes) / path.payload_bytes;
            set_window(s, increased_window(s.cwnd, acked, p_.ai));
        } else if (may_decrease(s, ack.now)) {
            apply_decrease(s, decreased_window(s.cwnd, ack.rtt, target, p_), ack.now);
        }
        publish(s, path, control);
    }

    void on_timeout(void* state, const PathFacts& path, sim::SimTime now, Control& control) const noexcept override {
        SwiftState& s = in(state);
        if (++s.timeouts >= p_.retx_reset_threshold)
            apply_decrease(s, p_.min_cwnd, now);
        else if (may_decrease(s, now))
            apply_decrease(s, s.cwnd * (1.0 - p_.max_mdf), now);
        publish(s, path, control);
    }

  private:
    static bool may_decrease(const SwiftState& s, sim::SimTime now) noexcept {
        return !s.has_decreased || now - s.last_decrease >= s.rtt;
    }
    void set_window(SwiftState& s, double cwnd) const noexcept { s.cwnd = std::clamp(cwnd, p_.min_cwnd, s.max_cwnd); }
    void apply_decrease(SwiftState& s, double cwnd, sim::SimTime now) const noexcept {
        const double before = s.cwnd;
        set_window(s, cwnd);
        if (s.cwnd >= before) return;
        s.has_decreased = true;
        s.last_decrease = now;
    }
    static void publish(const SwiftState& s, const PathFacts& path, Control& control) noexcept {
        control.window_bytes = std::max(int64_t{1}, static_cast<int64_t>(s.cwnd * path.payload_bytes));
        control.rate = pacing_rate(s.cwnd, s.rtt, path);
    }

    SwiftParams p_;
};

// The paper does not publish its values; these are an author's, from a public simulator (htsim).
constexpr auto kSwiftSchema = std::to_array<ParameterInfo>({
    {"ai", ParameterKind::Fraction, 1, "1", 0, 1000, "additive increase, packets a round trip"},
    {"beta", ParameterKind::Fraction, 0.8, "0.8", 0, 1, "strength of a decrease"},
    {"max_mdf", ParameterKind::Fraction, 0.5, "0.5", 0, 1, "the most that one decrease takes"},
    {"base_target", ParameterKind::Time, 20 * kUs, "20 us", 1, 1e6 * kUs, "target delay of a path without hops"},
    {"hop_target", ParameterKind::Time, 3'053'435, "3053435 ps", 0, 1e6 * kUs,
     "what each hop adds to it (base_target / 6.55)"},
    {"fs_range", ParameterKind::Time, 100 * kUs, "100 us", 0, 1e6 * kUs, "the most that flow scaling adds"},
    {"fs_min_cwnd", ParameterKind::Fraction, 0.1, "0.1", 0.001, 1000, "window with the full fs_range"},
    {"fs_max_cwnd", ParameterKind::Fraction, 100, "100", 0.01, 1e6, "window with nothing of it; above fs_min_cwnd"},
    {"min_cwnd", ParameterKind::Fraction, 0.001, "0.001", 1e-6, 1, "no window below this, packets"},
    {"max_cwnd", ParameterKind::Integer, 0, "0", 0, 1e9,
     "no window above this, packets; 0: line rate x (base RTT + base_target)"},
    {"retx_reset_threshold", ParameterKind::Integer, 5, "5", 1, 1000, "timeouts in a row that reset the window"},
});

}  // namespace

}  // namespace swift

extern const AlgorithmInfo kSwift;
constinit const AlgorithmInfo kSwift = {
    .name = "swift",
    .summary = "Swift: a window that keeps the delay at a target",
    .parameters = swift::kSwiftSchema,
    .factory = [](const Values& v) -> std::unique_ptr<CongestionControl> {
        return std::make_unique<swift::Swift>(swift::SwiftParams{
            .ai = v.number("ai"),
            .beta = v.number("beta"),
            .max_mdf = v.number("max_mdf"),
            .base_target = v.time("base_target"),
            .hop_target = v.time("hop_target"),
            .fs_range = v.time("fs_range"),
            .fs_min_cwnd = v.number("fs_min_cwnd"),
            .fs_max_cwnd = v.number("fs_max_cwnd"),
            .min_cwnd = v.number("min_cwnd"),
            .max_cwnd = v.integer("max_cwnd"),
            .retx_reset_threshold = v.integer("retx_reset_threshold"),
        });
    },
    .check = [](const Values& v) { return check_order(v, "fs_min_cwnd", "fs_max_cwnd", true); },
};

}  // namespace simverbs::cc
