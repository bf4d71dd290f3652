#include "scenarios/output/perfetto_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string_view>
#include <vector>

#include "scenarios/expect/bits_per_second.hpp"
#include "scenarios/output/flow_files.hpp"

namespace simverbs::scenarios::output {

namespace {

std::string in_json(std::string_view text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Microseconds, which is what the format has, with all digits down to a picosecond.
std::string trace_time(sim::SimTime time) {
    constexpr int64_t kPsPerUs = 1'000'000;
    std::string out = fmt::format("{}", time.in_ps() / kPsPerUs);
    const int64_t rest = time.in_ps() % kPsPerUs;
    if (rest == 0) return out;
    out += fmt::format(".{:06}", rest);
    out.erase(out.find_last_not_of('0') + 1);
    return out;
}

/// The events, one a line.
class TraceWriter {
  public:
    explicit TraceWriter(const run::RunResult& result) : result_(result) {}

    /// Nodes are processes: hosts first, then switches.
    [[nodiscard]] uint32_t process_of_host(uint32_t host) const { return 1 + host; }
    [[nodiscard]] uint32_t process_of_switch(uint32_t node) const {
        return 1 + static_cast<uint32_t>(result_.hosts.size()) + node;
    }

    void name_process(uint32_t process, std::string_view name) {
        event(R"("ph":"M","pid":{},"name":"process_name","args":{{"name":{}}})", process, in_json(name));
        event(R"("ph":"M","pid":{},"name":"process_sort_index","args":{{"sort_index":{}}})", process, process);
    }

    void flow(uint32_t process, uint32_t row, const run::FlowRecord& flow, sim::SimTime end) {
        const std::string name =
            fmt::format("{}[{}] → {}", result_.groups[flow.group].name, flow.number, result_.hosts[flow.dst].name);
        event(R"("ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"name":{},"cat":{},"args":{{"bytes":{},"status":"{}",)"
              R"("retransmissions":{},"cnps":{}}})",
              process, row, trace_time(flow.started), trace_time(end - flow.started), in_json(name),
              in_json(result_.groups[flow.group].name), flow.bytes, status_text(flow.status), flow.retransmitted,
              flow.cnps);
    }

    template <typename Value>
    void counter(uint32_t process, std::string_view name, sim::SimTime time, std::string_view unit, Value value) {
        event(R"("ph":"C","pid":{},"ts":{},"name":{},"args":{{"{}":{}}})", process, trace_time(time), in_json(name),
              unit, value);
    }

    [[nodiscard]] std::string finish() && { return std::move(out_) + "\n]}\n"; }

  private:
    template <typename... Args>
    void event(fmt::format_string<Args...> format, Args&&... args) {
        out_ += is_first_ ? "\n{" : ",\n{";
        is_first_ = false;
        fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
        out_ += '}';
    }

    const run::RunResult& result_;
    std::string out_ = R"({"displayTimeUnit":"ns","traceEvents":[)";
    bool is_first_ = true;
};

/// Flows of each host by start; each takes the first row that is free.
void write_flows(const run::RunResult& result, TraceWriter& writer) {
    std::map<uint32_t, std::vector<const run::FlowRecord*>> by_host;
    for (const run::FlowRecord& flow : result.flows) {
        if (flow.started != sim::SimTime::max()) by_host[flow.src].push_back(&flow);
    }
    for (auto& [host, flows] : by_host) {
        const auto starts_before = [](const auto* a, const auto* b) { return a->started < b->started; };
        std::stable_sort(flows.begin(), flows.end(), starts_before);
        std::vector<sim::SimTime> free_from;
        for (const run::FlowRecord* flow : flows) {
            const sim::SimTime end = std::max(std::min(flow->acknowledged, result.simulated_time), flow->started);
            const auto is_free = [&](sim::SimTime time) { return time <= flow->started; };
            auto row = std::find_if(free_from.begin(), free_from.end(), is_free);
            if (row == free_from.end()) row = free_from.insert(row, end);
            *row = end;
            writer.flow(writer.process_of_host(host), static_cast<uint32_t>(row - free_from.begin()), *flow, end);
        }
    }
}

void write_port(const run::RunResult& result, const run::PortSamples& samples, TraceWriter& writer) {
    const run::PortRecord& port = result.ports[samples.port];
    const uint32_t process = port.is_switch ? writer.process_of_switch(port.node) : writer.process_of_host(port.node);
    const std::size_t count = std::min(samples.counts.size(), result.sample_times.size());
    sim::SimTime before;
    uint64_t bytes_before = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const run::PortCounts& counts = samples.counts[i];
        const sim::SimTime time = result.sample_times[i];
        const sim::ByteCount queue = std::accumulate(counts.queue.begin(), counts.queue.end(), sim::ByteCount{0});
        writer.counter(process, "queue " + port.name, time, "bytes", queue);
        if (time > before) {
            const auto bytes = static_cast<double>(counts.tx_bytes - bytes_before);
            writer.counter(process, "sent " + port.name, time, "bit/s", expect::bits_per_second(bytes, time - before));
        }
        before = time;
        bytes_before = counts.tx_bytes;
    }
}

void write_counters(const run::RunResult& result, TraceWriter& writer) {
    for (const run::PortSamples& samples : result.port_samples) write_port(result, samples, writer);
    for (const run::SwitchSamples& samples : result.switch_samples) {
        const std::size_t count = std::min(samples.buffer.size(), result.sample_times.size());
        for (std::size_t i = 0; i < count; ++i) {
            writer.counter(writer.process_of_switch(samples.node), "buffer", result.sample_times[i], "bytes",
                           samples.buffer[i]);
        }
    }
    for (const run::FlowSamples& samples : result.flow_samples) {
        const run::FlowRecord& flow = result.flows[samples.flow];
        const std::string name = fmt::format("rate {}[{}]", result.groups[flow.group].name, flow.number);
        const std::size_t count = std::min(samples.rate.size(), result.sample_times.size());
        for (std::size_t i = 0; i < count; ++i) {
            writer.counter(writer.process_of_host(flow.src), name, result.sample_times[i], "bit/s",
                           samples.rate[i].in_bps());
        }
    }
}

}  // namespace

std::string perfetto_trace(const run::RunResult& result) {
    TraceWriter writer(result);
    for (std::size_t i = 0; i < result.hosts.size(); ++i) {
        writer.name_process(writer.process_of_host(static_cast<uint32_t>(i)), result.hosts[i].name);
    }
    for (std::size_t i = 0; i < result.switches.size(); ++i) {
        writer.name_process(writer.process_of_switch(static_cast<uint32_t>(i)), result.switches[i].name);
    }
    write_flows(result, writer);
    write_counters(result, writer);
    return std::move(writer).finish();
}

}  // namespace simverbs::scenarios::output
