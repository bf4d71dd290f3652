// DCQCN in the fabric against its fluid model: how long two unequal flows need to become equal.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "models/cc/dcqcn/dcqcn.hpp"
#include "models/cc/register_algorithms.hpp"
#include "scenarios/run/flow_fabric.hpp"
#include "scenarios/topologies/small_topologies.hpp"

namespace simverbs::fidelity {

namespace {

using sim::SimTime;

/// DCQCN whose QPs start in the middle of things: the one with the longer cable at 2 Gb/s, the other at 38.
class StartsUnequal final : public cc::CongestionControl {
  public:
    explicit StartsUnequal(SimTime border) : border_(border) {}

    [[nodiscard]] std::string_view name() const noexcept override { return dcqcn_->name(); }
    [[nodiscard]] std::size_t state_size() const noexcept override { return dcqcn_->state_size(); }
    [[nodiscard]] cc::Needs needs() const noexcept override { return dcqcn_->needs(); }
    void start(void* state, const cc::PathFacts& path, cc::Control& control) const noexcept override {
        dcqcn_->start(state, path, control);
        (path.base_rtt > border_ ? slow_ : fast_)->on_cnp(state, path, SimTime::zero(), control);
    }
    void on_ack(void* s, const cc::PathFacts& path, const cc::Ack& ack, cc::Control& control) const noexcept override {
        dcqcn_->on_ack(s, path, ack, control);
    }
    void on_cnp(void* s, const cc::PathFacts& path, SimTime now, cc::Control& control) const noexcept override {
        dcqcn_->on_cnp(s, path, now, control);
    }
    void on_time(void* s, const cc::PathFacts& path, SimTime now, cc::Control& control) const noexcept override {
        dcqcn_->on_time(s, path, now, control);
    }
    void on_bytes(void* s, const cc::PathFacts& path, SimTime now, cc::Control& control) const noexcept override {
        dcqcn_->on_bytes(s, path, now, control);
    }

  private:
    /// The first CNP makes a rate limiter at this rate and takes nothing from it.
    static std::unique_ptr<cc::CongestionControl> set_to(double bps) {
        return cc::make(*cc::find_algorithm("dcqcn"), {{"rate_to_set_on_first_cnp", bps}, {"rpg_min_dec_fac", 1}});
    }
    SimTime border_;
    std::unique_ptr<cc::CongestionControl> dcqcn_ = cc::make(*cc::find_algorithm("dcqcn"));
    std::unique_ptr<cc::CongestionControl> fast_ = set_to(38 * cc::kGbps);
    std::unique_ptr<cc::CongestionControl> slow_ = set_to(2 * cc::kGbps);
};

constexpr SimTime kBin = SimTime::ms(2);
constexpr int kBins = 40;
constexpr uint64_t kSeeds = 12;
/// Between the base RTTs of the two: 4.23 us and, with 2 m more of cable, 4.25 us.
constexpr SimTime kBorder = SimTime::ns(4243);

/// The slow flow's rate over time in bins, in Gb/s.
std::vector<double> slow_rates(uint64_t seed) {
    scenarios::topologies::Topology topology;
    const auto line = sim::BitRate::gbps(40);
    EXPECT_TRUE(make_single_switch(topology, {.hosts = 3, .host_link = {line, SimTime::us(1)}}).empty());
    for (auto& link : topology.links)
        if ((link.a.node.is_switch ? link.b : link.a).node.index == 1) link.delay = SimTime::ns(1010);
    flow::FlowPlan plan;
    plan.groups = {"pair"};
    for (const flow::HostIndex src : {0U, 1U}) plan.flows.push_back({.src = src, .dst = 2, .bytes = 1'000'000'000});
    const StartsUnequal algorithm(kBorder);
    scenarios::run::FlowFabricConfig config;
    config.engine.seed = seed;
    config.switches.buffer.total = 12'000'000;
    config.switches.buffer.lossless = 1U << 3;
    config.switches.ecn = {1U << 3, {5'000, 1'955'000, 0.1}, false};
    config.nics.payload_bytes = 1000;
    config.cc = &algorithm;
    scenarios::run::FlowFabric fabric(topology, std::move(plan), config);
    EXPECT_GT(fabric.facts(1, 2).base_rtt, kBorder);
    EXPECT_LT(fabric.facts(0, 2).base_rtt, kBorder);

    std::vector<double> rates;
    constexpr int kSamples = 100;
    for (int bin = 0; bin < kBins; ++bin) {
        double sum = 0;
        for (int i = 1; i <= kSamples; ++i) {
            fabric.engine().run_until(kBin * bin + SimTime::ps(kBin.in_ps() / kSamples * i));
            sum += static_cast<double>(fabric.nic(1).rate_of(1).in_bps());
        }
        rates.push_back(sum / kSamples * 1e-9);
    }
    return rates;
}

TEST(DcqcnConvergence, FlowsThatStartAt38And2GbpsAreWithinATenthOfFairAfter36MsGiveOrTake30Percent) {
    std::vector<double> mean(kBins, 0);
    for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
        const auto rates = slow_rates(seed);
        for (int i = 0; i < kBins; ++i) mean[static_cast<size_t>(i)] += rates[static_cast<size_t>(i)] / kSeeds;
    }
    constexpr double kFair = 20;
    EXPECT_LT(mean.front(), 0.4 * kFair);
    size_t bin = 0;
    while (bin < mean.size() && mean[bin] < 0.9 * kFair) ++bin;
    const double ms = (static_cast<double>(bin) + 0.5) * kBin.in_s() * 1e3;
    std::string curve;
    for (const double rate : mean) curve += std::to_string(rate) + " ";
    fmt::print("38 and 2 Gb/s: within a tenth of fair after {:.0f} ms\n", ms);
    EXPECT_NEAR(ms, 36, 0.3 * 36) << curve;
}

}  // namespace

}  // namespace simverbs::fidelity
