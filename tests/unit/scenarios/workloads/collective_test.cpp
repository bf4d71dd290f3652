#include "scenarios/workloads/collective.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "tests/unit/scenarios/workloads/plan_executor.hpp"

namespace simverbs::scenarios::workloads {
namespace {

CollectiveParameters parameters(CollectiveKind kind, uint32_t ranks, sim::ByteCount bytes, uint32_t channels = 1,
                                sim::ByteCount chunk_bytes = 1 << 20) {
    CollectiveParameters p;
    p.common.name = "c";
    p.common.host_count = ranks;
    p.kind = kind;
    p.bytes = bytes;
    p.channels = channels;
    p.chunk_bytes = chunk_bytes;
    return p;
}

std::string text(const Problems& problems) {
    std::string out;
    for (const Diagnostic& problem : problems) out += to_string(problem) + "\n";
    return out;
}

flow::FlowPlan plan_of(const CollectiveParameters& p) {
    flow::FlowPlan plan;
    const Problems problems = append_collective(plan, p);
    EXPECT_TRUE(problems.empty()) << text(problems);
    return plan;
}

/// Which ranks' contributions a rank's piece has: bit r. Pieces are moved as the schedule says.
class SymbolicBuffers {
  public:
    SymbolicBuffers(const CollectiveSchedule& schedule, uint32_t ranks, bool reads_at_start)
        : schedule_(schedule), reads_at_start_(reads_at_start), held_(ranks), in_flight_(schedule.transfers.size()) {
        for (uint32_t r = 0; r < ranks; ++r) held_[r].assign(schedule.piece_bytes.size(), uint64_t{1} << r);
    }
    std::vector<uint64_t>& of(Rank rank) { return held_[rank]; }

    /// A WRITE reads its source at any time between start and arrival: the test does each extreme.
    void on_event(flow::FlowIndex index, FlowEvent event) {
        const Transfer& t = schedule_.transfers[index];
        if ((event == FlowEvent::Start) == reads_at_start_ && event != FlowEvent::Acknowledge) read(index, t);
        if (event != FlowEvent::Arrive) return;
        for (uint32_t i = 0; i < t.pieces; ++i) {
            uint64_t& at_receiver = held_[t.to][t.first_piece + i];
            const uint64_t arrived = in_flight_[index][i];
            if (t.kind == TransferKind::Reduce) {
                counted_twice_ += (at_receiver & arrived) != 0 ? 1 : 0;
                at_receiver |= arrived;
            } else {
                at_receiver = arrived;
            }
        }
    }
    [[nodiscard]] int counted_twice() const { return counted_twice_; }

  private:
    void read(flow::FlowIndex index, const Transfer& t) {
        const auto first = held_[t.from].begin() + t.first_piece;
        in_flight_[index].assign(first, first + t.pieces);
    }
    const CollectiveSchedule& schedule_;
    bool reads_at_start_;
    std::vector<std::vector<uint64_t>> held_;
    std::vector<std::vector<uint64_t>> in_flight_;
    int counted_twice_ = 0;
};

uint64_t everybody(uint32_t ranks) {
    return ranks == 64 ? ~uint64_t{0} : (uint64_t{1} << ranks) - 1;
}

void expect_reduces(const CollectiveParameters& p) {
    SCOPED_TRACE(testing::Message() << to_string(p.kind) << " ranks " << p.common.host_count << " bytes " << p.bytes
                                    << " channels " << p.channels << " chunk " << p.chunk_bytes);
    const CollectiveSchedule schedule = collective_schedule(p);
    const flow::FlowPlan plan = plan_of(p);
    ASSERT_EQ(plan.flows.size(), schedule.transfers.size());
    expect_contract(plan);
    sim::ByteCount pieces = 0;
    for (const sim::ByteCount bytes : schedule.piece_bytes) pieces += bytes;
    EXPECT_EQ(pieces, p.bytes);
    for (uint64_t seed = 0; seed < 6; ++seed) {
        SymbolicBuffers buffers(schedule, p.common.host_count, seed % 2 == 0);
        ASSERT_TRUE(execute_plan(plan, seed, [&](auto flow, auto event) { buffers.on_event(flow, event); }));
        EXPECT_EQ(buffers.counted_twice(), 0);
        for (Rank r = 0; r < p.common.host_count; ++r) {
            const auto& held = buffers.of(r);
            ASSERT_TRUE(std::all_of(held.begin(), held.end(),
                                    [&](uint64_t who) { return who == everybody(p.common.host_count); }))
                << "rank " << r << " seed " << seed;
        }
    }
}

TEST(Collective, EveryRankEndsUpWithEverybodysContributionToEveryPiece) {
    for (const CollectiveKind kind :
         {CollectiveKind::RingAllReduce, CollectiveKind::TreeAllReduce, CollectiveKind::HalvingDoublingAllReduce}) {
        for (const uint32_t ranks : {2U, 3U, 4U, 5U, 6U, 7U, 8U, 12U, 13U, 16U, 31U, 64U}) {
            expect_reduces(parameters(kind, ranks, 100'003));
            expect_reduces(parameters(kind, ranks, 100'003, 2, 900));
        }
    }
}

TEST(Collective, OneSlotAConnectionDoesNotStopIt) {
    for (const CollectiveKind kind :
         {CollectiveKind::RingAllReduce, CollectiveKind::TreeAllReduce, CollectiveKind::HalvingDoublingAllReduce}) {
        CollectiveParameters p = parameters(kind, 6, 60'000, 2, 500);
        p.slots = 1;
        expect_reduces(p);
    }
}

TEST(Collective, WithoutItsDependenciesOnArrivalsItDoesNotReduce) {
    const CollectiveParameters p = parameters(CollectiveKind::RingAllReduce, 4, 4000);
    const CollectiveSchedule schedule = collective_schedule(p);
    flow::FlowPlan plan = plan_of(p);
    for (std::size_t i = 0; i < schedule.dependencies.size(); ++i) {
        flow::FlowPlan without = plan;
        without.dependencies.erase(without.dependencies.begin() + static_cast<std::ptrdiff_t>(i));
        int wrong = 0;
        for (uint64_t seed = 0; seed < 40; ++seed) {
            SymbolicBuffers buffers(schedule, 4, seed % 2 == 0);
            ASSERT_TRUE(execute_plan(without, seed, [&](auto flow, auto event) { buffers.on_event(flow, event); }));
            for (Rank r = 0; r < 4; ++r) {
                for (const uint64_t who : buffers.of(r)) wrong += who != everybody(4) ? 1 : 0;
            }
        }
        EXPECT_GT(wrong, 0) << "dependency " << i;
    }
}

std::map<flow::HostIndex, sim::ByteCount> sent_by_host(const flow::FlowPlan& plan) {
    std::map<flow::HostIndex, sim::ByteCount> sent;
    for (const flow::FlowSpec& flow : plan.flows) sent[flow.src] += flow.bytes;
    return sent;
}

TEST(Collective, RingAllReduceSendsTwiceNMinusOneNthsOfTheBufferFromEachRank) {
    const auto sent = sent_by_host(plan_of(parameters(CollectiveKind::RingAllReduce, 8, 8 << 20, 2, 65536)));
    ASSERT_EQ(sent.size(), 8U);
    for (const auto& [host, bytes] : sent) EXPECT_EQ(bytes, 2LL * 7 * (8 << 20) / 8) << host;
}

TEST(Collective, RingAllGatherAndReduceScatterSendNMinusOneNths) {
    for (const auto kind : {CollectiveKind::RingAllGather, CollectiveKind::RingReduceScatter}) {
        const auto sent = sent_by_host(plan_of(parameters(kind, 16, 16 << 20, 4, 65536)));
        ASSERT_EQ(sent.size(), 16U);
        for (const auto& [host, bytes] : sent) EXPECT_EQ(bytes, 15LL * (1 << 20)) << host;
    }
}

TEST(Collective, HalvingDoublingSendsAsMuchAsARing) {
    const auto sent =
        sent_by_host(plan_of(parameters(CollectiveKind::HalvingDoublingAllReduce, 8, 8 << 20, 1, 4 << 20)));
    for (const auto& [host, bytes] : sent) EXPECT_EQ(bytes, 2LL * 7 * (1 << 20)) << host;
}

TEST(Collective, HalvingDoublingHasHalfOfTheBufferInItsFirstMessage) {
    const auto schedule =
        collective_schedule(parameters(CollectiveKind::HalvingDoublingAllReduce, 8, 8 << 20, 1, 8 << 20));
    EXPECT_EQ(schedule.transfers.size(), 2U * 3 * 8);
    EXPECT_EQ(schedule.transfers.front().bytes, 4 << 20);
    EXPECT_EQ(schedule.transfers.back().bytes, 4 << 20);
}

TEST(Collective, TreesMoveTheBufferUpAndDownEachEdgeOnce) {
    const flow::FlowPlan plan = plan_of(parameters(CollectiveKind::TreeAllReduce, 10, 1 << 20, 2, 4096));
    sim::ByteCount all = 0;
    for (const flow::FlowSpec& flow : plan.flows) all += flow.bytes;
    EXPECT_EQ(all, 2LL * 9 * (1 << 20));
}

TEST(Collective, NoRankHasMoreThanTwoChildrenAndInAtMostOneTreeAny) {
    for (uint32_t n = 2; n <= 200; ++n) {
        std::vector<int> inner(n);
        for (uint32_t tree = 0; tree < 2; ++tree) {
            std::vector<int> children(n);
            for (Rank r = 0; r < n; ++r) {
                Rank up = r;
                for (uint32_t step = 0; tree_parent(up, n, tree) != up; ++step) {
                    ASSERT_LE(step, 2 * static_cast<uint32_t>(std::bit_width(n)));
                    up = tree_parent(up, n, tree);
                    ASSERT_LT(up, n);
                }
                if (tree_parent(r, n, tree) != r) ++children[tree_parent(r, n, tree)];
            }
            for (Rank r = 0; r < n; ++r) {
                ASSERT_LE(children[r], 2) << n;
                inner[r] += children[r] > 0 ? 1 : 0;
            }
        }
        const auto in_both = std::count(inner.begin(), inner.end(), 2);
        EXPECT_LE(in_both, n % 2 == 0 ? 0 : 1) << n;
    }
}

TEST(Collective, ReduceScatterLeavesShardRAtRankR) {
    const uint32_t n = 5;
    const CollectiveParameters p = parameters(CollectiveKind::RingReduceScatter, n, 10'000, 2, 600);
    const CollectiveSchedule schedule = collective_schedule(p);
    const flow::FlowPlan plan = plan_of(p);
    SymbolicBuffers buffers(schedule, n, true);
    ASSERT_TRUE(execute_plan(plan, 3, [&](auto flow, auto event) { buffers.on_event(flow, event); }));
    for (Rank r = 0; r < n; ++r) {
        for (std::size_t piece = r; piece < schedule.piece_bytes.size(); piece += n) {
            EXPECT_EQ(buffers.of(r)[piece], everybody(n));
        }
    }
}

TEST(Collective, AllGatherGivesEveryRankEveryShard) {
    const uint32_t n = 6;
    const CollectiveParameters p = parameters(CollectiveKind::RingAllGather, n, 30'000, 2, 600);
    const CollectiveSchedule schedule = collective_schedule(p);
    const flow::FlowPlan plan = plan_of(p);
    for (uint64_t seed = 0; seed < 4; ++seed) {
        SymbolicBuffers buffers(schedule, n, seed % 2 == 0);
        for (Rank r = 0; r < n; ++r) {
            for (std::size_t piece = 0; piece < schedule.piece_bytes.size(); ++piece) {
                buffers.of(r)[piece] = piece % n == r ? uint64_t{1} << r : 0;
            }
        }
        ASSERT_TRUE(execute_plan(plan, seed, [&](auto flow, auto event) { buffers.on_event(flow, event); }));
        for (Rank r = 0; r < n; ++r) {
            for (std::size_t piece = 0; piece < schedule.piece_bytes.size(); ++piece) {
                ASSERT_EQ(buffers.of(r)[piece], uint64_t{1} << (piece % n));
            }
        }
    }
}

TEST(Collective, AllToAllSendsOneNthOfTheBufferBetweenEachPair) {
    for (const uint32_t peers : {0U, 1U, 3U}) {
        CollectiveParameters p = parameters(CollectiveKind::AllToAll, 7, 7 * 1000, 2, 100);
        p.peers_at_once = peers;
        const flow::FlowPlan plan = plan_of(p);
        expect_contract(plan);
        EXPECT_TRUE(is_executable(plan));
        std::map<std::pair<flow::HostIndex, flow::HostIndex>, sim::ByteCount> between;
        for (const flow::FlowSpec& flow : plan.flows) between[{flow.src, flow.dst}] += flow.bytes;
        EXPECT_EQ(between.size(), 7U * 6);
        for (const auto& [pair, bytes] : between) EXPECT_EQ(bytes, 1000);
    }
}

TEST(Collective, AllToAllSendsToNoMorePeersAtOnceThanItMay) {
    CollectiveParameters p = parameters(CollectiveKind::AllToAll, 9, 9 * 1000, 1, 100);
    p.peers_at_once = 3;
    const flow::FlowPlan plan = plan_of(p);
    for (uint64_t seed = 0; seed < 5; ++seed) {
        std::map<flow::HostIndex, std::multiset<flow::HostIndex>> in_flight;
        std::size_t most = 0;
        ASSERT_TRUE(execute_plan(plan, seed, [&](flow::FlowIndex i, FlowEvent event) {
            const flow::FlowSpec& flow = plan.flows[i];
            auto& peers = in_flight[flow.src];
            if (event == FlowEvent::Start) peers.insert(flow.dst);
            if (event == FlowEvent::Acknowledge) peers.erase(peers.find(flow.dst));
            most = std::max(most, std::set<flow::HostIndex>(peers.begin(), peers.end()).size());
        }));
        EXPECT_EQ(most, 3U);
    }
}

TEST(Collective, ARankSendsNothingOfAnIterationBeforeItHasReceivedAllOfTheOneBefore) {
    for (const CollectiveKind kind :
         {CollectiveKind::RingAllReduce, CollectiveKind::TreeAllReduce, CollectiveKind::HalvingDoublingAllReduce,
          CollectiveKind::RingAllGather, CollectiveKind::RingReduceScatter, CollectiveKind::AllToAll}) {
        CollectiveParameters p = parameters(kind, 6, 12'000, 2, 300);
        p.slots = 3;
        p.iterations = 3;
        const flow::FlowPlan plan = plan_of(p);
        expect_contract(plan);
        const std::size_t transfers = plan.flows.size() / 3;
        std::vector<std::size_t> expected(6);
        for (std::size_t i = 0; i < transfers; ++i) ++expected[plan.flows[i].dst];
        for (uint64_t seed = 0; seed < 5; ++seed) {
            std::vector<std::size_t> received(6);
            std::size_t early = 0;
            ASSERT_TRUE(execute_plan(plan, seed, [&](flow::FlowIndex i, FlowEvent event) {
                const flow::FlowSpec& flow = plan.flows[i];
                if (event == FlowEvent::Arrive) ++received[flow.dst];
                if (event == FlowEvent::Start && received[flow.src] < i / transfers * expected[flow.src]) ++early;
            }));
            EXPECT_EQ(early, 0U) << to_string(kind);
        }
    }
}

TEST(Collective, NoConnectionHasMoreChunksInFlightThanSlotsAndNoneIsLargerThanAChunk) {
    CollectiveParameters p = parameters(CollectiveKind::RingAllReduce, 4, 64'000, 1, 1000);
    p.slots = 2;
    const flow::FlowPlan plan = plan_of(p);
    std::map<flow::HostIndex, int> in_flight;
    int most = 0;
    ASSERT_TRUE(execute_plan(plan, 2, [&](flow::FlowIndex i, FlowEvent event) {
        int& count = in_flight[plan.flows[i].src];
        count += event == FlowEvent::Start ? 1 : event == FlowEvent::Acknowledge ? -1 : 0;
        most = std::max(most, count);
    }));
    EXPECT_EQ(most, 2);
    for (const flow::FlowSpec& flow : plan.flows) EXPECT_LE(flow.bytes, 1000);
}

TEST(Collective, RanksLiveOnTheHostsOfTheMap) {
    CollectiveParameters p = parameters(CollectiveKind::RingAllReduce, 3, 3000);
    p.common.host_count = 100;
    p.ranks = {70, 10, 40};
    const flow::FlowPlan plan = plan_of(p);
    for (const flow::FlowSpec& flow : plan.flows) {
        const std::map<flow::HostIndex, flow::HostIndex> next{{70, 10}, {10, 40}, {40, 70}};
        EXPECT_EQ(next.at(flow.src), flow.dst);
    }
}

TEST(Collective, EveryWrongParameterIsReportedAtOnceAndThePlanStaysEmpty) {
    CollectiveParameters p = parameters(CollectiveKind::RingAllReduce, 4, 0, 0, 0);
    p.ranks = {1, 1, 9};
    p.iterations = 0;
    p.slots = 0;
    flow::FlowPlan plan;
    const Problems problems = append_collective(plan, p);
    std::set<std::string> paths;
    for (const Diagnostic& problem : problems) paths.insert(problem.path);
    EXPECT_EQ(paths,
              (std::set<std::string>{"ranks", "ranks[2]", "bytes", "channels", "chunk_bytes", "iterations", "slots"}))
        << text(problems);
    EXPECT_TRUE(plan.flows.empty() && plan.groups.empty());
}

TEST(Collective, ABufferTooSmallForItsMessagesAndAPlanTooLargeAreRefused) {
    flow::FlowPlan plan;
    EXPECT_NE(text(append_collective(plan, parameters(CollectiveKind::RingAllReduce, 8, 15, 2)))
                  .find("bytes: 15 bytes do not fill every message; expected at least 16"),
              std::string::npos);
    EXPECT_NE(text(append_collective(plan, parameters(CollectiveKind::RingAllReduce, 8, int64_t{1} << 50, 1, 1)))
                  .find("flows are too many"),
              std::string::npos);
}

TEST(Collective, NamesRoundTrip) {
    for (int i = 0; i < 6; ++i) {
        const auto kind = static_cast<CollectiveKind>(i);
        EXPECT_EQ(collective_kind(to_string(kind)), kind);
    }
    EXPECT_FALSE(collective_kind("gather"));
    EXPECT_DOUBLE_EQ(bus_bandwidth_factor(CollectiveKind::RingAllReduce, 4), 1.5);
    EXPECT_DOUBLE_EQ(bus_bandwidth_factor(CollectiveKind::AllToAll, 4), 0.75);
}

}  // namespace
}  // namespace simverbs::scenarios::workloads
