// InfiniBand congestion control: BECN moves a QP along the congestion control table, a timer moves it back.
#include <array>
#include <memory>
#include <new>

#include "models/cc/ibcc/cct.hpp"
#include "models/cc/parameters.hpp"

namespace simverbs::cc {

namespace ibcc {

namespace {

/// IBTA: 128 entries, two blocks of CongestionControlTable.
constexpr std::size_t kCctEntries = 128;

/// CACongestionSetting of a service level, and the table.
struct IbCcParams {
    uint32_t ccti_increase = 1;
    uint32_t ccti_limit = kCctEntries - 1;
    uint32_t ccti_min = 0;
    sim::SimTime ccti_timer;
    std::array<CctEntry, kCctEntries> cct;
};

struct IbCcState {
    uint32_t ccti = 0;
    sim::SimTime since;  ///< expiries up to here have been counted
};

/// The CCTI timer of a channel adapter runs freely (from time zero here); each expiry lowers every QP's CCTI by one. At
/// the same instant the timer comes before the BECN.
class IbCc final : public CongestionControlWith<IbCcState> {
  public:
    explicit IbCc(const IbCcParams& params) noexcept : p_(params) {}

    [[nodiscard]] std::string_view name() const noexcept override { return "ib-cc"; }
    /// Every packet with FECN is answered with BECN.
    [[nodiscard]] Needs needs() const noexcept override { return {.cnp = true}; }

    void start(void* state, const PathFacts& path, Control& control) const noexcept override {
        IbCcState& s = *new (state) IbCcState{};
        s.ccti = p_.ccti_min;
        control = Control{};
        publish(s, path, control);
    }
    void on_cnp(void* state, const PathFacts& path, sim::SimTime now, Control& control) const noexcept override {
        IbCcState& s = in(state);
        catch_up(s, now);
        s.ccti = increased_ccti(s.ccti, p_.ccti_increase, p_.ccti_limit);
        publish(s, path, control);
    }
    void on_time(void* state, const PathFacts& path, sim::SimTime now, Control& control) const noexcept override {
        IbCcState& s = in(state);
        catch_up(s, now);
        publish(s, path, control);
    }

  private:
    void catch_up(IbCcState& s, sim::SimTime now) const noexcept {
        s.ccti = decreased_ccti(s.ccti, expiries_between(s.since, now, p_.ccti_timer), p_.ccti_min);
        s.since = now;
    }
    void publish(const IbCcState& s, const PathFacts& path, Control& control) const noexcept {
        control.rate = rate_with(p_.cct[s.ccti], path.line_rate);
        control.next_update =
            s.ccti > p_.ccti_min ? p_.ccti_timer * (s.since / p_.ccti_timer + 1) : sim::SimTime::max();
    }

    IbCcParams p_;
};

// Published runs on InfiniBand hardware (Gran et al., IPDPS 2010) use CCTI_Increase 1, CCTI_Limit 127, CCTI_Min 0 and
// CCTI_Timer 150 (× 1.024 us). The standard leaves the table to the manager; an even one with eighths of a packet time
// is our choice: it ends at 1/17 of the line rate. With quarters (1/33) a few BECNs cost two flows so much that a fifth
// of their link stays idle (docs/fidelity.md).
constexpr auto kIbCcSchema = std::to_array<ParameterInfo>({
    {"ccti_increase", ParameterKind::Integer, 1, "1", 0, 127, "what a BECN adds to the table index"},
    {"ccti_limit", ParameterKind::Integer, 127, "127", 0, 127, "highest table index"},
    {"ccti_min", ParameterKind::Integer, 0, "0", 0, 127, "lowest table index; at most ccti_limit"},
    {"ccti_timer", ParameterKind::Time, 153'600'000, "153600 ns", 1.024 * kUs, 65535 * 1.024 * kUs,
     "each time this passes, the table index falls by one (the standard counts it in 1.024 us)"},
    {"cct_step", ParameterKind::Integer, 1, "1", 0, 16383, "multiplier of table entry i: i x cct_step"},
    {"cct_shift", ParameterKind::Integer, 3, "3", 0, 3, "delay after a packet: its time x multiplier / 2^cct_shift"},
});

IbCcParams read_ib_cc_params(const Values& v) {
    IbCcParams p = {
        .ccti_increase = static_cast<uint32_t>(v.integer("ccti_increase")),
        .ccti_limit = static_cast<uint32_t>(v.integer("ccti_limit")),
        .ccti_min = static_cast<uint32_t>(v.integer("ccti_min")),
        .ccti_timer = v.time("ccti_timer"),
        .cct = {},
    };
    for (std::size_t i = 0; i < kCctEntries; ++i)
        p.cct[i] = linear_entry(static_cast<uint32_t>(i), static_cast<uint32_t>(v.integer("cct_step")),
                                static_cast<uint32_t>(v.integer("cct_shift")));
    return p;
}

}  // namespace

}  // namespace ibcc

extern const AlgorithmInfo kIbCc;
constinit const AlgorithmInfo kIbCc = {
    .name = "ib-cc",
    .summary = "InfiniBand congestion control: BECN and the congestion control table",
    .parameters = ibcc::kIbCcSchema,
    .factory = [](const Values& v) -> std::unique_ptr<CongestionControl> {
        return std::make_unique<ibcc::IbCc>(ibcc::read_ib_cc_params(v));
    },
    .check = [](const Values& v) { return check_order(v, "ccti_min", "ccti_limit"); },
};

}  // namespace simverbs::cc
