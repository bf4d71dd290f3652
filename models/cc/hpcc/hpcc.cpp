// HPCC: rates and windows from the INT records of every ACK.
#include <array>
#include <memory>
#include <new>

#include "models/cc/hpcc/hpcc_arithmetic.hpp"
#include "models/cc/parameters.hpp"

namespace simverbs::cc {

namespace {

struct HpccParams {
    double eta = 0.95;
    int64_t max_stage = 0;
    sim::BitRate ai_rate;
    double ai_of_line_rate = 0;
    sim::BitRate min_rate;
    bool fast_react = true;
};

struct HpccState {
    // Apart, not as HopRecord, for eight hops to fit.
    std::array<sim::SimTime, kMaxHops> time;
    std::array<uint64_t, kMaxHops> tx_bytes;
    std::array<uint32_t, kMaxHops> queue_bytes;
    sim::BitRate reference;  ///< Algorithm 1's W^c as a rate: changes once a round trip
    double load = 1.0;
    int64_t inc_stage = 0;
    sim::BitRate ai;
    wire::Psn last_update;  ///< next_psn at the last change of the reference
    uint32_t hops = 0;      ///< recorded; 0: no ACK yet

    [[nodiscard]] hpcc::HopRecord record(std::size_t i) const noexcept {
        return {time[i], tx_bytes[i], queue_bytes[i]};
    }
    void set_record(std::size_t i, const HopInt& hop) noexcept {
        time[i] = hop.time;
        tx_bytes[i] = hop.tx_bytes;
        queue_bytes[i] = hop.queue_bytes;
    }
};

class Hpcc final : public CongestionControlWith<HpccState> {
  public:
    explicit Hpcc(const HpccParams& params) noexcept : p_(params) {}

    [[nodiscard]] std::string_view name() const noexcept override { return "hpcc"; }
    [[nodiscard]] Needs needs() const noexcept override { return {.hop_int = true}; }

    void start(void* state, const PathFacts& path, Control& control) const noexcept override {
        HpccState& s = *new (state) HpccState{};
        s.reference = path.line_rate;
        s.ai = given_or_share(p_.ai_rate, path.line_rate, p_.ai_of_line_rate);
        control = Control{.rate = path.line_rate, .window_bytes = full_window(path)};
    }

    void on_ack(void* state, const PathFacts& path, const Ack& ack, Control& control) const noexcept override {
        HpccState& s = in(state);
        const auto hops = ack.hops.first(std::min(ack.hops.size(), kMaxHops));
        if (hops.empty()) return;
        // A first ACK, or one that came another way, is only something to compare the next with.
        if (s.hops != hops.size()) {
            record_all(s, hops);
            s.last_update = ack.next_psn;
            return;
        }
        const bool round_trip_over = is_past(ack.ack_psn, s.last_update);
        if (!round_trip_over && !p_.fast_react) return;
        if (!measure(s, hops, path.base_rtt)) return;
        const auto next =
            hpcc::next_rate(s.reference, s.load, s.inc_stage, p_.eta, p_.max_stage, s.ai, p_.min_rate, path.line_rate);
        control.rate = next.rate;
        control.window_bytes = window_for(path, next.rate);
        if (!round_trip_over) return;
        s.reference = next.rate;
        s.inc_stage = next.inc_stage;
        s.last_update = ack.next_psn;
    }

  private:
    static void record_all(HpccState& s, std::span<const HopInt> hops) noexcept {
        for (std::size_t i = 0; i < hops.size(); ++i) s.set_record(i, hops[i]);
        s.hops = static_cast<uint32_t>(hops.size());
    }

    /// Takes the most loaded link into the average. False if no record is newer than the last one.
    static bool measure(HpccState& s, std::span<const HopInt> hops, sim::SimTime base_rtt) noexcept {
        double most = 0;
        sim::SimTime elapsed;
        for (std::size_t i = 0; i < hops.size(); ++i) {
            const HopInt& hop = hops[i];
            if (hop.time <= s.time[i] || hop.rate.rate() == sim::BitRate()) continue;
            const hpcc::HopRecord now = {hop.time, hop.tx_bytes, hop.queue_bytes};
            const double load = hpcc::link_load(s.record(i), now, hop.rate.rate(), base_rtt);
            if (load > most || elapsed == sim::SimTime::zero()) {
                most = load;
                elapsed = hop.time - s.time[i];
            }
            s.set_record(i, hop);
        }
        if (elapsed == sim::SimTime::zero()) return false;
        s.load = hpcc::averaged_load(s.load, most, elapsed, base_rtt);
        return true;
    }

    HpccParams p_;
};

constexpr auto kHpccSchema = std::to_array<ParameterInfo>({
    {"eta", ParameterKind::Fraction, 0.95, "0.95", 0.01, 1, "utilisation that every link is brought to"},
    {"max_stage", ParameterKind::Integer, 0, "0", 0, 1000, "additive steps before the next multiplicative one"},
    {"ai_rate", ParameterKind::Rate, 0, "0 Mb/s", 0, 1000 * kGbps, "additive step; 0: ai_of_line_rate"},
    {"ai_of_line_rate", ParameterKind::Fraction, 4e-4, "0.0004", 0, 1, "additive step, if ai_rate is 0"},
    {"min_rate", ParameterKind::Rate, 100 * kMbps, "100 Mb/s", kMbps, 1000 * kGbps, "no rate below this"},
    flag("fast_react", true, "every ACK changes the rate, not only one in a round trip"),
});

// simulation/run.py of HPCC's simulator: AI 10 Mb/s per 25 Gb/s (ai_of_line_rate), MIN_RATE.
constexpr auto kHpccNs3Hpcc = std::to_array<PresetValue>({{"min_rate", 1000 * kMbps}});
constexpr auto kHpccPresets = std::to_array<Preset>({{"hpcc-ns3", "HPCC's simulator", kHpccNs3Hpcc, {}}});

}  // namespace

extern const AlgorithmInfo kHpcc;
constinit const AlgorithmInfo kHpcc = {
    .name = "hpcc",
    .summary = "HPCC: rate and window from in-band telemetry",
    .parameters = kHpccSchema,
    .presets = kHpccPresets,
    .factory = [](const Values& v) -> std::unique_ptr<CongestionControl> {
        return std::make_unique<Hpcc>(HpccParams{
            .eta = v.number("eta"),
            .max_stage = v.integer("max_stage"),
            .ai_rate = v.rate("ai_rate"),
            .ai_of_line_rate = v.number("ai_of_line_rate"),
            .min_rate = v.rate("min_rate"),
            .fast_react = v.is_set("fast_react"),
        });
    },
};

}  // namespace simverbs::cc
