#include "scenarios/workloads/perftest_flows.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/int128.hpp"

namespace simverbs::scenarios::workloads {

namespace {

/// Messages of one QP.
int64_t perftest_messages(const PerftestParameters& p) {
    if (p.iterations != 0) return p.iterations;
    constexpr sim::Int128 kPsPerSecondAndBitsPerByte = sim::Int128{8} * 1'000'000'000'000;
    const sim::Int128 bytes =
        static_cast<sim::Int128>(p.duration.in_ps()) * p.rate.in_bps() / kPsPerSecondAndBitsPerByte;
    const sim::Int128 messages = bytes / (static_cast<sim::Int128>(p.message_bytes) * p.qps);
    return static_cast<int64_t>(std::clamp<sim::Int128>(messages, 1, int64_t{1} << 62));
}

void check_perftest(PlanWriter& writer, const PerftestParameters& p) {
    writer.check_host("src", p.src);
    writer.check_host("dst", p.dst);
    if (p.src == p.dst) writer.add_problem("dst", fmt::format("host {} sends to itself", p.src), "another host");
    writer.check_positive("message_bytes", p.message_bytes);
    writer.check_positive("tx_depth", p.tx_depth);
    writer.check_positive("qps", p.qps);
    if (p.iterations < 0) writer.add_problem("iterations", fmt::format("{} is negative", p.iterations), "at least 1");
    if (p.iterations == 0) {
        if (p.duration <= sim::SimTime::zero()) {
            writer.add_problem("iterations", "neither a number of messages nor a duration is given",
                               "'iterations' or 'duration'");
        }
        writer.check_positive("rate", p.rate.in_bps());
    }
    if (p.kind == PerftestKind::Latency && p.is_bidirectional) {
        writer.add_problem("is_bidirectional", "a latency test has messages in both directions already", "false");
    }
    if (writer.has_problems()) return;
    const bool is_doubled = p.is_bidirectional || p.kind == PerftestKind::Latency;
    const double flows = static_cast<double>(perftest_messages(p)) * static_cast<double>(p.qps) * (is_doubled ? 2 : 1);
    writer.check_size(p.iterations == 0 ? "duration" : "iterations", flows, flows);
}

void add_bandwidth_qp(PlanWriter& writer, const PerftestParameters& p, flow::HostIndex src, flow::HostIndex dst,
                      int64_t messages) {
    flow::FlowIndex first = 0;
    for (int64_t i = 0; i < messages; ++i) {
        const flow::FlowIndex flow = writer.add(src, dst, p.message_bytes, p.common.start);
        if (i == 0) first = flow;
        if (i >= p.tx_depth) writer.add_dependency(first + static_cast<flow::FlowIndex>(i - p.tx_depth), flow);
    }
}

void add_latency_qp(PlanWriter& writer, const PerftestParameters& p, int64_t messages) {
    flow::FlowIndex last = 0;
    for (int64_t i = 0; i < messages; ++i) {
        const flow::FlowIndex message = writer.add(p.src, p.dst, p.message_bytes, p.common.start);
        if (i > 0) writer.add_dependency(last, message);
        last = writer.add(p.dst, p.src, p.message_bytes, p.common.start);
        writer.add_dependency(message, last);
    }
}

}  // namespace

Problems append_perftest(flow::FlowPlan& plan, const PerftestParameters& p) {
    PlanWriter writer(plan, p.common);
    check_perftest(writer, p);
    if (writer.has_problems()) return writer.problems();
    const int64_t messages = perftest_messages(p);
    writer.begin(static_cast<std::size_t>(messages * p.qps));
    for (int64_t qp = 0; qp < p.qps; ++qp) {
        if (p.kind == PerftestKind::Latency) {
            add_latency_qp(writer, p, messages);
            continue;
        }
        add_bandwidth_qp(writer, p, p.src, p.dst, messages);
        if (p.is_bidirectional) add_bandwidth_qp(writer, p, p.dst, p.src, messages);
    }
    return {};
}

}  // namespace simverbs::scenarios::workloads
