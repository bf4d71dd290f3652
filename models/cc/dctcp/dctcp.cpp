// A window in the manner of DCTCP, without slow start: an RDMA sender starts with the full window.
#include "models/cc/dctcp/dctcp_arithmetic.hpp"

#include <array>
#include <memory>
#include <new>

#include "models/cc/parameters.hpp"

namespace simverbs::cc {

namespace dctcp {

namespace {

struct DctcpParams {
    double g = 1.0 / 16;
    sim::BitRate ai_rate;
    sim::BitRate min_rate;
    bool paced = true;
};

/// The window is kept as the rate that it makes with the base RTT, as in HPCC's simulator.
struct DctcpState {
    sim::BitRate rate;
    double alpha = 1.0;        ///< RFC 8257, section 3.3: as if everything had been marked
    int64_t acked_bytes = 0;   ///< in this round trip
    int64_t marked_bytes = 0;  ///< of them
    wire::Psn round_end;       ///< next_psn at the start of this round trip
    wire::Psn reduced_until;   ///< next_psn at the last decrease: none before this is past
    bool started = false;
    bool reduced = false;
};

class Dctcp final : public CongestionControlWith<DctcpState> {
  public:
    explicit Dctcp(const DctcpParams& params) noexcept : p_(params) {}

    [[nodiscard]] std::string_view name() const noexcept override { return "dctcp"; }
    [[nodiscard]] Needs needs() const noexcept override { return {.ecn_echo = true}; }

    void start(void* state, const PathFacts& path, Control& control) const noexcept override {
        DctcpState& s = *new (state) DctcpState{};
        s.rate = path.line_rate;
        control = Control{};
        publish(s, path, control);
    }

    void on_ack(void* state, const PathFacts& path, const Ack& ack, Control& control) const noexcept override {
        DctcpState& s = in(state);
        s.acked_bytes += ack.acked_bytes;
        if (ack.ecn_echo) s.marked_bytes += ack.acked_bytes;
        const bool round_over = !s.started || is_past(ack.ack_psn, s.round_end);
        if (round_over) end_round(s, ack);
        if (s.reduced && is_past(ack.ack_psn, s.reduced_until)) s.reduced = false;
        if (ack.ecn_echo && !s.reduced) {
            s.rate = decreased_rate(s.rate, s.alpha, p_.min_rate);
            s.reduced = true;
            s.reduced_until = ack.next_psn;
        }
        if (round_over && !s.reduced)
            s.rate = std::min(path.line_rate, sim::BitRate::bps(s.rate.in_bps() + p_.ai_rate.in_bps()));
        publish(s, path, control);
    }

  private:
    void end_round(DctcpState& s, const Ack& ack) const noexcept {
        if (s.started) s.alpha = updated_alpha(s.alpha, marked_share(s.marked_bytes, s.acked_bytes), p_.g);
        s.started = true;
        s.round_end = ack.next_psn;
        s.acked_bytes = s.marked_bytes = 0;
    }

    void publish(const DctcpState& s, const PathFacts& path, Control& control) const noexcept {
        control.rate = p_.paced ? s.rate : path.line_rate;
        control.window_bytes = window_for(path, s.rate);
    }

    DctcpParams p_;
};

constexpr auto kDctcpSchema = std::to_array<ParameterInfo>({
    {"dctcp_g", ParameterKind::Fraction, 1.0 / 16, "0.0625", 0, 1, "weight of the newest round trip in alpha"},
    {"dctcp_ai_rate", ParameterKind::Rate, 615 * kMbps, "615 Mb/s", 1, 1000 * kGbps,
     "what the window gains a round trip, over the base RTT (one packet of 1000 B in 13 us)"},
    {"min_rate", ParameterKind::Rate, 100 * kMbps, "100 Mb/s", kMbps, 1000 * kGbps,
     "no window below what this carries in the base RTT"},
    flag("paced", true, "send at window / base RTT; 0: in bursts at the line rate"),
});

// simulation/run.py of HPCC's simulator: MIN_RATE, and a step at 30 KB per 10 Gb/s.
constexpr auto kHpccNs3Dctcp = std::to_array<PresetValue>({{"min_rate", 1000 * kMbps}});
constexpr auto kDctcpPresets = std::to_array<Preset>({
    {"hpcc-ns3", "HPCC's simulator", kHpccNs3Dctcp, {30'000, 30'000, 1.0, sim::BitRate::gbps(10)}},
});

}  // namespace

}  // namespace dctcp

extern const AlgorithmInfo kDctcp;
constinit const AlgorithmInfo kDctcp = {
    .name = "dctcp",
    .summary = "a window in the manner of DCTCP, from the ECN echo of ACKs",
    .parameters = dctcp::kDctcpSchema,
    .presets = dctcp::kDctcpPresets,
    .factory = [](const Values& v) -> std::unique_ptr<CongestionControl> {
        return std::make_unique<dctcp::Dctcp>(dctcp::DctcpParams{
            .g = v.number("dctcp_g"),
            .ai_rate = v.rate("dctcp_ai_rate"),
            .min_rate = v.rate("min_rate"),
            .paced = v.is_set("paced"),
        });
    },
};

}  // namespace simverbs::cc
