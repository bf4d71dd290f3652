#include "scenarios/workloads/collective.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

namespace simverbs::scenarios::workloads {

namespace {

constexpr std::array<std::string_view, 6> kKindNames{
    "ring_all_reduce", "tree_all_reduce",     "halving_doubling_all_reduce",
    "ring_all_gather", "ring_reduce_scatter", "all_to_all"};
constexpr uint32_t kMaxChannels = 1024;  // NCCL has at most 64

CollectiveShape shape_of(const CollectiveParameters& p) {
    const uint32_t ranks = p.ranks.empty() ? p.common.host_count : static_cast<uint32_t>(p.ranks.size());
    return {ranks, p.bytes, p.channels, p.chunk_bytes, p.slots};
}

/// Fewest bytes of which no message is empty.
sim::ByteCount least_bytes(const CollectiveParameters& p, const CollectiveShape& shape) {
    switch (p.kind) {
        case CollectiveKind::TreeAllReduce:
            return sim::ByteCount{2} * shape.channels;
        case CollectiveKind::HalvingDoublingAllReduce:
            return sim::ByteCount{std::bit_floor(shape.ranks)} * shape.channels;
        case CollectiveKind::RingAllReduce:
        case CollectiveKind::RingAllGather:
        case CollectiveKind::RingReduceScatter:
        case CollectiveKind::AllToAll:
            return sim::ByteCount{shape.ranks} * shape.channels;
    }
    return 0;
}

/// Transfers of one iteration, about.
double estimated_transfers(const CollectiveParameters& p, const CollectiveShape& shape) {
    const double n = shape.ranks;
    const double per_channel = static_cast<double>(shape.bytes) / shape.channels;
    const auto chunk = static_cast<double>(shape.chunk_bytes);
    const double ring_step = n * shape.channels * std::max(1.0, per_channel / n / chunk);
    const double log_n = std::bit_width(shape.ranks);
    switch (p.kind) {
        case CollectiveKind::RingAllReduce:
            return 2 * (n - 1) * ring_step;
        case CollectiveKind::RingAllGather:
        case CollectiveKind::RingReduceScatter:
        case CollectiveKind::AllToAll:
            return (n - 1) * ring_step;
        case CollectiveKind::TreeAllReduce:
            return 2 * (n - 1) * shape.channels * std::max(2.0, per_channel / chunk);
        case CollectiveKind::HalvingDoublingAllReduce:
            return 2 * n * log_n * shape.channels * std::max(1.0, per_channel / 2 / chunk);
    }
    return 0;
}

void check_collective(PlanWriter& writer, const CollectiveParameters& p, const CollectiveShape& shape) {
    if (p.ranks.empty()) {
        if (shape.ranks < 2)
            writer.add_problem("ranks", fmt::format("{} rank(s) are too few", shape.ranks), "at least 2");
    } else {
        writer.check_hosts("ranks", p.ranks, 2);
    }
    writer.check_positive("bytes", p.bytes);
    writer.check_positive("channels", p.channels);
    writer.check_positive("chunk_bytes", p.chunk_bytes);
    writer.check_positive("slots", p.slots);
    writer.check_positive("iterations", p.iterations);
    if (p.channels > kMaxChannels) {
        writer.add_problem("channels", fmt::format("{} channels are too many", p.channels),
                           fmt::format("at most {}", kMaxChannels));
    }
    // No product of the two overflows.
    constexpr sim::ByteCount kMaxBytes = sim::ByteCount{1} << 50;
    if (p.bytes > kMaxBytes)
        writer.add_problem("bytes", fmt::format("{} bytes are too many", p.bytes), "at most 1 PiB");
    if (writer.has_problems()) return;
    const sim::ByteCount least = least_bytes(p, shape);
    if (p.bytes < least) {
        writer.add_problem(
            "bytes", fmt::format("{} bytes do not fill every message", p.bytes),
            fmt::format("at least {} for {} ranks and {} channel(s)", least, shape.ranks, shape.channels),
            "use fewer channels or a larger buffer");
    }
    writer.check_size("bytes", estimated_transfers(p, shape) * p.iterations);
}

/// Of each iteration but the first: all that a rank sends waits for all that it received.
double barrier_dependencies(const CollectiveSchedule& schedule) {
    double count = 0;
    for (std::size_t rank = 0; rank < schedule.first_sends.size(); ++rank) {
        count += static_cast<double>(schedule.first_sends[rank].size()) *
                 static_cast<double>(schedule.last_receives[rank].size());
    }
    return count;
}

void add_barrier(PlanWriter& writer, const CollectiveSchedule& schedule, flow::FlowIndex before,
                 flow::FlowIndex after) {
    for (std::size_t rank = 0; rank < schedule.first_sends.size(); ++rank) {
        for (const TransferIndex send : schedule.first_sends[rank]) {
            for (const TransferIndex receive : schedule.last_receives[rank]) {
                writer.add_dependency(before + receive, after + send);
            }
        }
    }
}

}  // namespace

CollectiveSchedule collective_schedule(const CollectiveParameters& p) {
    CollectiveShape shape = shape_of(p);
    // The largest chunk that makes a difference, so that chunk x ranks does not overflow.
    shape.chunk_bytes = std::min(shape.chunk_bytes, shape.bytes);
    switch (p.kind) {
        case CollectiveKind::RingAllReduce:
            return ring_all_reduce(shape);
        case CollectiveKind::TreeAllReduce:
            return tree_all_reduce(shape);
        case CollectiveKind::HalvingDoublingAllReduce:
            return halving_doubling_all_reduce(shape);
        case CollectiveKind::RingAllGather:
            return ring_all_gather(shape);
        case CollectiveKind::RingReduceScatter:
            return ring_reduce_scatter(shape);
        case CollectiveKind::AllToAll:
            return exchange_all_to_all(shape, p.peers_at_once);
    }
    return {};
}

Problems append_collective(flow::FlowPlan& plan, const CollectiveParameters& p) {
    PlanWriter writer(plan, p.common);
    const CollectiveShape shape = shape_of(p);
    check_collective(writer, p, shape);
    if (writer.has_problems()) return writer.problems();
    const CollectiveSchedule schedule = collective_schedule(p);
    const std::size_t transfers = schedule.transfers.size();
    writer.check_size("iterations", static_cast<double>(transfers) * p.iterations,
                      static_cast<double>(schedule.dependencies.size()) * p.iterations +
                          barrier_dependencies(schedule) * (p.iterations - 1));
    if (writer.has_problems()) return writer.problems();
    const std::vector<flow::HostIndex> hosts = p.ranks.empty() ? host_range(0, shape.ranks) : p.ranks;
    const auto first_flow = static_cast<flow::FlowIndex>(plan.flows.size());
    writer.begin(transfers * p.iterations);
    for (uint32_t iteration = 0; iteration < p.iterations; ++iteration) {
        const auto base = static_cast<flow::FlowIndex>(first_flow + iteration * transfers);
        for (const Transfer& transfer : schedule.transfers) {
            writer.add(hosts[transfer.from], hosts[transfer.to], transfer.bytes, p.common.start);
        }
        for (const auto& [before, after] : schedule.dependencies) writer.add_dependency(base + before, base + after);
        if (iteration > 0) add_barrier(writer, schedule, static_cast<flow::FlowIndex>(base - transfers), base);
    }
    return {};
}

std::string_view to_string(CollectiveKind kind) noexcept {
    return kKindNames[static_cast<std::size_t>(kind)];
}

std::optional<CollectiveKind> collective_kind(std::string_view name) noexcept {
    const auto found = std::find(kKindNames.begin(), kKindNames.end(), name);
    if (found == kKindNames.end()) return std::nullopt;
    return static_cast<CollectiveKind>(found - kKindNames.begin());
}

double bus_bandwidth_factor(CollectiveKind kind, uint32_t ranks) noexcept {
    const double share = static_cast<double>(ranks - 1) / ranks;
    switch (kind) {
        case CollectiveKind::RingAllReduce:
        case CollectiveKind::TreeAllReduce:
        case CollectiveKind::HalvingDoublingAllReduce:
            return 2 * share;
        case CollectiveKind::RingAllGather:
        case CollectiveKind::RingReduceScatter:
        case CollectiveKind::AllToAll:
            return share;
    }
    return 1;
}

}  // namespace simverbs::scenarios::workloads
