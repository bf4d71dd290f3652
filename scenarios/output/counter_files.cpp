#include "scenarios/output/counter_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <string_view>

#include "scenarios/expect/bits_per_second.hpp"
#include "scenarios/output/csv.hpp"

namespace simverbs::scenarios::output {

namespace {

constexpr std::string_view kCountersHeader =
    "port,node,link,rate_bps,tx_packets,tx_bytes,rx_packets,rx_bytes,drops,lossless_drops,watchdog_drops,other_drops,"
    "corrupted,trims,ecn_marks,pfc_pauses_sent,pfc_pauses_received,pause_storms,paused_ps,max_queue_bytes\n";

/// Writes the lines of one place.
struct SeriesLines {
    const run::RunResult& result;
    std::string kind;
    std::string name;
    std::string& out;

    /// `value_at(i)` is formatted as it comes: a double in the shortest way that reads back the same.
    template <typename ValueAt>
    void add(std::string_view value_name, std::size_t count, ValueAt value_at) const {
        for (std::size_t i = 0; i < std::min(count, result.sample_times.size()); ++i) {
            fmt::format_to(std::back_inserter(out), "{},{},{},{},{}\n", result.sample_times[i].in_ps(), kind, name,
                           value_name, value_at(i));
        }
    }
};

class Wishes {
  public:
    explicit Wishes(const std::vector<std::string>& what) : what_(what) {}
    [[nodiscard]] bool has(std::string_view name) const {
        return what_.empty() || std::find(what_.begin(), what_.end(), name) != what_.end();
    }

  private:
    const std::vector<std::string>& what_;
};

void add_queues(const SeriesLines& lines, const std::vector<run::PortCounts>& counts) {
    lines.add("queue_bytes", counts.size(), [&](std::size_t i) {
        return std::accumulate(counts[i].queue.begin(), counts[i].queue.end(), sim::ByteCount{0});
    });
    for (std::size_t priority = 0; priority < run::kPriorities; ++priority) {
        const auto is_used = [&](const run::PortCounts& c) { return c.queue[priority] > 0; };
        if (std::none_of(counts.begin(), counts.end(), is_used)) continue;
        lines.add(fmt::format("queue_bytes_{}", priority), counts.size(),
                  [&](std::size_t i) { return counts[i].queue[priority]; });
    }
}

void add_port(const run::RunResult& result, const run::PortSamples& samples, const Wishes& wishes, std::string& out) {
    const run::PortRecord& port = result.ports[samples.port];
    const std::vector<run::PortCounts>& counts = samples.counts;
    const SeriesLines lines{result, "port", csv_field(port.name), out};
    const auto sent = [&](std::size_t i) {
        const uint64_t before = i == 0 ? 0 : counts[i - 1].tx_bytes;
        const sim::SimTime since = i == 0 ? sim::SimTime::zero() : result.sample_times[i - 1];
        const sim::SimTime time = result.sample_times[i] - since;
        const auto bytes = static_cast<double>(counts[i].tx_bytes - before);
        return time > sim::SimTime::zero() ? expect::bits_per_second(bytes, time) : 0;
    };
    if (wishes.has("queue")) add_queues(lines, counts);
    if (wishes.has("rate")) lines.add("sent_bps", counts.size(), sent);
    if (wishes.has("utilisation") && port.rate > sim::BitRate()) {
        const auto rate = static_cast<double>(port.rate.in_bps());
        lines.add("utilisation", counts.size(), [&](std::size_t i) { return sent(i) / rate; });
    }
    if (wishes.has("pauses")) {
        lines.add("pauses_sent", counts.size(), [&](std::size_t i) { return counts[i].pauses_sent; });
        lines.add("paused_ps", counts.size(), [&](std::size_t i) { return counts[i].paused_time.in_ps(); });
    }
    if (wishes.has("marks")) lines.add("marks", counts.size(), [&](std::size_t i) { return counts[i].marks; });
    if (wishes.has("queue")) lines.add("drops", counts.size(), [&](std::size_t i) { return counts[i].drops; });
}

void add_flow(const run::RunResult& result, const run::FlowSamples& samples, std::string& out) {
    const run::FlowRecord& flow = result.flows[samples.flow];
    const std::string name = fmt::format("{}[{}]", result.groups[flow.group].name, flow.number);
    const SeriesLines lines{result, "flow", csv_field(name), out};
    lines.add("rate_bps", samples.rate.size(), [&](std::size_t i) { return samples.rate[i].in_bps(); });
    lines.add("delivered_bytes", samples.delivered.size(), [&](std::size_t i) { return samples.delivered[i]; });
    lines.add("rtt_ps", samples.rtt.size(), [&](std::size_t i) { return samples.rtt[i].in_ps(); });
}

/// Samples in the order of what they are of, so that who asked first does not matter.
template <typename Samples, typename Number>
std::vector<const Samples*> in_order(const std::vector<Samples>& all, Number number) {
    std::vector<const Samples*> out;
    out.reserve(all.size());
    for (const Samples& samples : all) out.push_back(&samples);
    std::stable_sort(out.begin(), out.end(),
                     [&](const Samples* a, const Samples* b) { return a->*number < b->*number; });
    return out;
}

}  // namespace

std::string counters_csv(const run::RunResult& result) {
    std::string out(kCountersHeader);
    for (const run::PortRecord& port : result.ports) {
        const run::PortCounts& c = port.end;
        const std::string& node = port.is_switch ? result.switches[port.node].name : result.hosts[port.node].name;
        const std::string link = port.link == run::kNone ? "" : result.links[port.link].name;
        fmt::format_to(std::back_inserter(out), "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n",
                       csv_field(port.name), csv_field(node), csv_field(link), port.rate.in_bps(), c.tx_packets,
                       c.tx_bytes, c.rx_packets, c.rx_bytes, c.drops, c.lossless_drops, c.watchdog_drops, c.other_drops,
                       c.corrupted, c.trims, c.marks, c.pauses_sent, c.pauses_received, c.pause_storms,
                       c.paused_time.in_ps(), port.max_queue);
    }
    return out;
}

std::string series_csv(const run::RunResult& result, const std::vector<std::string>& what) {
    std::string out = "time_ps,kind,name,value_name,value\n";
    const Wishes wishes(what);
    for (const run::PortSamples* samples : in_order(result.port_samples, &run::PortSamples::port)) {
        add_port(result, *samples, wishes, out);
    }
    for (const run::SwitchSamples* samples : in_order(result.switch_samples, &run::SwitchSamples::node)) {
        if (!wishes.has("buffer")) break;
        const SeriesLines lines{result, "switch", csv_field(result.switches[samples->node].name), out};
        lines.add("buffer_bytes", samples->buffer.size(), [&](std::size_t i) { return samples->buffer[i]; });
    }
    for (const run::FlowSamples* samples : in_order(result.flow_samples, &run::FlowSamples::flow)) {
        if (wishes.has("rate")) add_flow(result, *samples, out);
    }
    return out;
}

}  // namespace simverbs::scenarios::output
