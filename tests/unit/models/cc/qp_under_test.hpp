// One QP of an algorithm, driven by hand.
#pragma once

#include <memory>
#include <string_view>

#include "models/cc/register_algorithms.hpp"

namespace simverbs::cc::test {

/// 1000-byte payloads in 1000-byte packets: windows and rates are easy to compute.
[[nodiscard]] constexpr PathFacts plain_path(int64_t gbps, int64_t base_rtt_us) {
    return {sim::BitRate::gbps(gbps), sim::SimTime::us(base_rtt_us), 1000, 1000, 0};
}

class QpUnderTest {
  public:
    QpUnderTest(std::string_view algorithm, const PathFacts& path, const Parameters& given = {},
                std::string_view preset = {})
        : path_(path) {
        const AlgorithmInfo* info = find_algorithm(algorithm);
        algorithm_ = make(*info, preset.empty() ? given : with_preset(*find_preset(*info, preset), given));
        algorithm_->start(state_, path_, control_);
    }

    void cnp(sim::SimTime now) { algorithm_->on_cnp(state_, path_, now, control_); }
    void time(sim::SimTime now) { algorithm_->on_time(state_, path_, now, control_); }
    void timeout(sim::SimTime now) { algorithm_->on_timeout(state_, path_, now, control_); }
    void ack(const Ack& ack) { algorithm_->on_ack(state_, path_, ack, control_); }
    /// Sends wire bytes as the requester does.
    void send(int64_t bytes, sim::SimTime now) {
        if (control_.next_update <= now) time(now);
        control_.bytes_to_update -= bytes;
        if (control_.bytes_to_update <= 0) algorithm_->on_bytes(state_, path_, now, control_);
    }

    [[nodiscard]] const CongestionControl& algorithm() const { return *algorithm_; }
    [[nodiscard]] const Control& control() const { return control_; }
    [[nodiscard]] int64_t mbps() const { return control_.rate.in_bps() / 1'000'000; }
    template <class State>
    [[nodiscard]] const State& state() const {
        return *reinterpret_cast<const State*>(state_);
    }

  private:
    PathFacts path_;
    std::unique_ptr<CongestionControl> algorithm_;
    alignas(8) unsigned char state_[CongestionControl::kMaxState] = {};
    Control control_;
};

}  // namespace simverbs::cc::test
