#include "models/host/host_node.hpp"

#include <gtest/gtest.h>

#include <set>

#include "sim/engine.hpp"
#include "tests/unit/models/host/fake_complex.hpp"

namespace simverbs::host {
namespace {

using sim::SimTime;

/// An adapter that asks for reads at given times, and at some of them again a little later.
class Asker final : public sim::Node {
  public:
    Asker(HostComplex& complex, AgentId agent, std::set<SimTime> times)
        : complex_(complex), agent_(agent), times_(std::move(times)) {}
    SimTime again_after;  ///< zero: never

    void run_window(SimTime end) override {
        while (!times_.empty() && *times_.begin() < end) {
            const SimTime now = *times_.begin();
            times_.erase(times_.begin());
            complex_.dma_read(agent_, now, {}, 64);
            if (again_after != SimTime::zero() && now < SimTime::us(10)) times_.insert(now + again_after);
        }
        if (!times_.empty()) engine().wake(id(), *times_.begin());
    }
    [[nodiscard]] SimTime next_event_time() const override { return times_.empty() ? SimTime::max() : *times_.begin(); }

  private:
    HostComplex& complex_;
    AgentId agent_;
    std::set<SimTime> times_;
};

class Told final : public CopySink {
  public:
    std::vector<SimTime> times;
    void on_copy_done(uint64_t, SimTime at) override { times.push_back(at); }
};

SimTime ns(int64_t n) {
    return SimTime::ns(n);
}

struct Rig {
    explicit Rig(sim::EngineConfig config) : engine(config) {
        auto made = std::make_unique<FakeComplex>();
        complex = made.get();
        node = std::make_unique<HostNode>(std::move(made));
        engine.add_node(*node);
    }
    Asker& add(std::set<SimTime> times) {
        parts.push_back(std::make_unique<Asker>(*complex, static_cast<AgentId>(parts.size()), std::move(times)));
        node->add_part(*parts.back());
        engine.wake(node->id(), parts.back()->next_event_time());
        return *parts.back();
    }
    sim::Engine engine;
    FakeComplex* complex = nullptr;
    std::unique_ptr<HostNode> node;
    std::vector<std::unique_ptr<Asker>> parts;
};

sim::EngineConfig window_of(SimTime window) {
    sim::EngineConfig config;
    config.window = window;
    return config;
}

TEST(HostNode, AdaptersTakeTurnsByTheTimesOfTheirEvents_WithinOneWindow) {
    Rig rig(window_of(ns(1000)));
    rig.add({ns(10), ns(40), ns(50)});
    rig.add({ns(20), ns(30), ns(60)});
    rig.engine.run();
    EXPECT_EQ(rig.complex->diary,
              (std::vector<std::string>{"10 read 0", "20 read 1", "30 read 1", "40 read 0", "50 read 0", "60 read 1"}));
}

TEST(HostNode, AtOneInstant_TheComplexGoesFirst_ThenTheAdaptersInTheirOrder) {
    Rig rig(window_of(ns(1000)));
    Told told;
    rig.add({ns(50), ns(51)});
    rig.add({ns(50)});
    rig.node->submit({7, 0, 0, 0, 30, 7}, ns(20), told);
    rig.engine.run();
    EXPECT_EQ(rig.complex->diary,
              (std::vector<std::string>{"20 submit 7", "50 copied 7", "50 read 0", "50 read 1", "51 read 0"}));
    EXPECT_EQ(told.times, std::vector<SimTime>{ns(50)});
}

TEST(HostNode, EventsThatFollowEvents_FindTheirPlaceInTheSameWindow) {
    Rig rig(window_of(ns(1000)));
    rig.add({ns(10)}).again_after = ns(7);
    rig.add({ns(12)}).again_after = ns(11);
    rig.engine.run();
    int64_t last = 0;
    for (const std::string& line : rig.complex->diary) {
        EXPECT_GE(std::stoll(line), last) << line;
        last = std::stoll(line);
    }
    EXPECT_GT(rig.complex->diary.size(), 2000U);
}

TEST(HostNode, NeitherWindowsNorThreadsChangeTheOrder) {
    std::vector<std::string> first;
    for (const unsigned threads : {1U, 2U}) {
        for (const int64_t window : {3, 100, 1000}) {
            sim::EngineConfig config = window_of(ns(window));
            config.threads = threads;
            Rig rig(config);
            Told told;
            rig.add({ns(10)}).again_after = ns(5);
            rig.add({ns(10)}).again_after = ns(15);
            rig.add({ns(13)}).again_after = ns(9);
            for (int i = 0; i < 20; ++i)
                rig.node->submit({static_cast<AgentId>(i), 0, 0, 0, 333, static_cast<uint64_t>(i)}, ns(100 * i), told);
            rig.engine.run();
            if (first.empty()) first = rig.complex->diary;
            EXPECT_EQ(rig.complex->diary, first) << threads << " threads, windows of " << window << " ns";
        }
    }
    EXPECT_GT(first.size(), 3000U);
}

}  // namespace
}  // namespace simverbs::host
