// The rules of the engine's interface.
#include "sim/engine.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "sim/activity.hpp"
#include "sim/check.hpp"
#include "sim/link_ring.hpp"

namespace simverbs::sim {
namespace {

/// Logs when it is run; has events at the times it was told.
class LogNode : public Node {
  public:
    void plan(SimTime t) {
        times.push_back(t);
        engine().wake(id(), t);
    }
    void run_window(SimTime end) override {
        ++runs;
        if (throws) throw std::runtime_error("from a node");
        std::erase_if(times, [&](SimTime t) {
            if (t >= end) return false;
            done.push_back(t);
            return true;
        });
    }
    [[nodiscard]] SimTime next_event_time() const override {
        SimTime best = SimTime::max();
        for (const SimTime t : times) best = std::min(best, t);
        return best;
    }
    std::vector<SimTime> times;
    std::vector<SimTime> done;
    int runs = 0;
    bool throws = false;
};

struct Item {
    SimTime arrival = SimTime::max();
    int value = 0;
};

/// Forwards every item, for ever.
class EchoNode final : public Node {
  public:
    Channel<Item>* in = nullptr;
    Channel<Item>* out = nullptr;
    int received = 0;
    void run_window(SimTime end) override {
        for (; in->head_time() < end; in->pop()) {
            ++received;
            out->push({in->head_time() + out->latency(), in->front().value});
        }
    }
    [[nodiscard]] SimTime next_event_time() const override { return in->head_time(); }
};

TEST(Engine, ARunOfOneWindowEndsAtItsBucketOrAtTheLimit) {
    Engine engine({.window = SimTime::ps(100)});
    LogNode node;
    engine.add_node(node);
    node.plan(SimTime::ps(250));
    node.plan(SimTime::ps(290));
    EXPECT_EQ(engine.next_event_time(), SimTime::ps(250));
    EXPECT_EQ(engine.frontier(), SimTime::zero());
    EXPECT_TRUE(engine.run_window(SimTime::ps(260)));
    EXPECT_EQ(engine.frontier(), SimTime::ps(260));
    EXPECT_EQ(node.done.size(), 1U);
    EXPECT_EQ(engine.next_event_time(), SimTime::ps(290));
    EXPECT_TRUE(engine.run_window());
    EXPECT_EQ(engine.frontier(), SimTime::ps(300));
    EXPECT_EQ(node.done.size(), 2U);
    EXPECT_FALSE(engine.run_window(SimTime::ps(5000)));
    EXPECT_EQ(engine.frontier(), SimTime::ps(5000));
    EXPECT_FALSE(engine.run_window());
    EXPECT_EQ(engine.frontier(), SimTime::ps(5000));
    EXPECT_EQ(engine.next_event_time(), SimTime::max());
}

TEST(Engine, EmptyWindowsAreSkippedAndFarWakesAreKept) {
    Engine engine({.window = SimTime::ns(1)});
    LogNode node;
    engine.add_node(node);
    node.plan(SimTime::s(3));
    node.plan(SimTime::ns(5));
    node.plan(SimTime::us(40));
    EXPECT_EQ(engine.run().end, RunEnd::Idle);
    EXPECT_EQ(node.done, (std::vector{SimTime::ns(5), SimTime::us(40), SimTime::s(3)}));
    EXPECT_EQ(engine.windows_run(), 3U);
}

TEST(Engine, AnEventThatHasGoneIsNotTheNextEvent) {
    Engine engine({.window = SimTime::ns(1)});
    LogNode node;
    LogNode other;
    engine.add_node(node);
    engine.add_node(other);
    node.plan(SimTime::ns(5));
    node.plan(SimTime::us(70));
    node.plan(SimTime::us(90));
    other.plan(SimTime::us(80));
    node.times.clear();
    EXPECT_EQ(engine.next_event_time(), SimTime::us(80));
    other.times.clear();
    EXPECT_EQ(engine.next_event_time(), SimTime::max());
}

TEST(Engine, AWakeFromOutsideMustNotLieBeforeTheFrontier) {
    const ThrowingChecks throwing;
    Engine engine({.window = SimTime::ps(100)});
    LogNode node;
    engine.add_node(node);
    engine.run_until(SimTime::ps(1050));
    EXPECT_THROW(engine.wake(node.id(), SimTime::ps(1049)), CheckError);
    node.plan(SimTime::ps(1050));
    EXPECT_EQ(engine.next_event_time(), SimTime::ps(1050));
    EXPECT_TRUE(engine.run_window());
    EXPECT_EQ(engine.frontier(), SimTime::ps(1100));
}

TEST(Engine, AWindowLongerThanAChannelsLatencyIsAnError) {
    Engine engine({.window = SimTime::ns(10)});
    LogNode a;
    LogNode b;
    engine.add_node(a);
    engine.add_node(b);
    EXPECT_THROW(Channel<Item>(engine, a.id(), b.id(), SimTime::ns(9)), std::invalid_argument);
    const Channel<Item> fits(engine, a.id(), b.id(), SimTime::ns(10));
    const Channel<Item> outside(engine, kExternal, b.id(), SimTime::ns(1));
    EXPECT_EQ(engine.window(), SimTime::ns(10));
    EXPECT_THROW(Engine({.window = kMaxWindow + SimTime::ps(1)}), std::invalid_argument);
    EXPECT_THROW(Engine({.threads = 0}), std::invalid_argument);
}

TEST(Engine, TheDefaultWindowIsTheSmallestLatency) {
    Engine engine;
    LogNode a;
    LogNode b;
    engine.add_node(a);
    engine.add_node(b);
    const Channel<Item> slow(engine, a.id(), b.id(), SimTime::ns(700));
    const Channel<Item> fast(engine, b.id(), a.id(), SimTime::ns(300));
    EXPECT_EQ(engine.window(), SimTime::ns(300));
    EXPECT_THROW(Channel<Item>(engine, a.id(), b.id(), SimTime::ns(299)), std::invalid_argument);
}

TEST(Engine, NodesAndChannelsCanBeAddedBetweenWindows) {
    Engine engine({.window = SimTime::ns(1), .threads = 2});
    LogNode first;
    engine.add_node(first);
    first.plan(SimTime::ns(3));
    engine.run_until(SimTime::ns(10));
    std::vector<std::unique_ptr<LogNode>> more;
    for (int i = 0; i < 200; ++i) {
        engine.add_node(*more.emplace_back(std::make_unique<LogNode>()));
        more.back()->plan(SimTime::ns(11 + i));
    }
    EXPECT_EQ(engine.run().end, RunEnd::Idle);
    for (const auto& n : more) EXPECT_EQ(n->done.size(), 1U);
}

TEST(Channel, RefusesAnArrivalInsideTheRunningWindowAndTimeThatGoesBack) {
    const ThrowingChecks throwing;
    Engine engine({.window = SimTime::ns(1)});
    LogNode node;
    engine.add_node(node);
    Channel<Item> in(engine, kExternal, node.id(), SimTime::ps(1));
    in.push({SimTime::ns(4), 1});
    EXPECT_THROW(in.push({SimTime::ns(3), 2}), CheckError);
    engine.run_until(SimTime::ns(9));
    EXPECT_THROW(in.push({SimTime::ns(8), 3}), CheckError);
}

TEST(Channel, CarriesItemsFromOutsideAndToOutside) {
    for (const unsigned threads : {1U, 2U}) {
        Engine engine({.threads = threads});
        EchoNode node;
        engine.add_node(node);
        Channel<Item> down(engine, kExternal, node.id(), SimTime::ns(2));
        Channel<Item> up(engine, node.id(), kExternal, SimTime::ns(5));
        node.in = &down;
        node.out = &up;
        down.push({SimTime::ns(2), 42});
        EXPECT_EQ(engine.next_event_time(), SimTime::ns(2));
        engine.run_until(SimTime::ns(3));
        ASSERT_FALSE(up.empty());
        EXPECT_EQ(up.head_time(), SimTime::ns(7));
        EXPECT_EQ(up.front().value, 42);
        up.pop();
        // Nothing is left that the engine would run: what it handed out is the reader's.
        EXPECT_EQ(engine.next_event_time(), SimTime::max());
    }
}

class Waiting final : public StuckReporter {
  public:
    bool waits = true;
    uint64_t done = 0;
    [[nodiscard]] bool outstanding() const override { return waits; }
    [[nodiscard]] uint64_t progress() const override { return done; }
    void describe(std::string& out) const override { out += "QP 17 waits for an ACK of PSN 5\n"; }
};

TEST(Engine, NothingScheduledWhileWorkIsOutstandingIsStuck) {
    Engine engine({.window = SimTime::ns(1)});
    LogNode node;
    engine.add_node(node);
    Waiting waiting;
    engine.add_stuck_reporter(waiting);
    node.plan(SimTime::ns(7));
    const RunResult result = engine.run();
    EXPECT_EQ(result.end, RunEnd::Stuck);
    EXPECT_NE(result.dump.find("QP 17 waits for an ACK of PSN 5"), std::string::npos);
    EXPECT_NE(result.dump.find("8000 ps"), std::string::npos) << result.dump;
    waiting.waits = false;
    EXPECT_EQ(engine.run().end, RunEnd::Idle);
    EXPECT_EQ(engine.run().dump, "");
}

TEST(Engine, EventsWithoutProgressAreALivelock) {
    Engine engine({.livelock_windows = 100});
    EchoNode a;
    EchoNode b;
    engine.add_node(a);
    engine.add_node(b);
    Channel<Item> ab(engine, a.id(), b.id(), SimTime::ns(10));
    Channel<Item> ba(engine, b.id(), a.id(), SimTime::ns(10));
    a.in = &ba;
    a.out = &ab;
    b.in = &ab;
    b.out = &ba;
    ab.push({SimTime::ns(10), 1});
    Waiting waiting;
    engine.add_stuck_reporter(waiting);
    EXPECT_EQ(engine.run().end, RunEnd::Livelock);
    EXPECT_GE(a.received, 40);
    EXPECT_LE(a.received, 200);
}

TEST(Engine, AnExceptionInANodeReachesTheCaller) {
    for (const unsigned threads : {1U, 3U}) {
        Engine engine({.window = SimTime::ns(1), .threads = threads});
        LogNode nodes[3];
        for (auto& n : nodes) {
            engine.add_node(n);
            n.plan(SimTime::ns(1));
        }
        nodes[2].throws = true;
        EXPECT_THROW(engine.run(), std::runtime_error);
    }
}

TEST(Engine, SeveralSimulationsLiveInOneProcess) {
    Engine one({.window = SimTime::ns(1)});
    Engine two({.window = SimTime::ns(2)});
    LogNode a;
    LogNode b;
    one.add_node(a);
    two.add_node(b);
    a.plan(SimTime::ns(3));
    b.plan(SimTime::ns(300));
    two.run();
    EXPECT_TRUE(a.done.empty());
    one.run();
    EXPECT_EQ(a.done.size(), 1U);
    EXPECT_EQ(two.frontier(), SimTime::ns(302));
}

}  // namespace
}  // namespace simverbs::sim
