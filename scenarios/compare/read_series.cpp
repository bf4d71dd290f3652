#include <fmt/format.h>

#include <cmath>
#include <map>

#include "scenarios/compare/csv_records.hpp"
#include "scenarios/compare/field_numbers.hpp"
#include "scenarios/compare/read_files.hpp"

namespace simverbs::scenarios::compare {

using sim::SimTime;

namespace {

const std::vector<std::string> kHeader{"time_ps", "kind", "name", "value_name", "value"};
enum SeriesColumn : std::size_t {
    kSeriesTime,
    kSeriesKind,
    kSeriesName,
    kSeriesValueName,
    kSeriesValue,
    kSeriesColumns
};

using PortSetter = void (*)(run::PortCounts&, double value);
const std::map<std::string, PortSetter, std::less<>> kPortValues{
    {"queue_bytes", [](run::PortCounts& c, double v) { c.queue[0] = static_cast<sim::ByteCount>(v); }},
    {"pauses_sent", [](run::PortCounts& c, double v) { c.pauses_sent = static_cast<uint64_t>(v); }},
    {"paused_ps", [](run::PortCounts& c, double v) { c.paused_time = SimTime::ps(static_cast<int64_t>(v)); }},
    {"marks", [](run::PortCounts& c, double v) { c.marks = static_cast<uint64_t>(v); }},
    {"drops", [](run::PortCounts& c, double v) { c.drops = static_cast<uint64_t>(v); }},
};

template <typename T>
T& at_least(std::vector<T>& values, std::size_t index) {
    if (values.size() <= index) values.resize(index + 1);
    return values[index];
}

/// Of a thing's value the first line is that of the first sample, the second that of the second, and so on.
class SeriesReader {
  public:
    SeriesReader(std::string_view text, const std::string& file, run::RunResult& result, DiagnosticSink& sink)
        : records_(text), file_(file), result_(result), sink_(sink) {
        for (uint32_t i = 0; i < result.flows.size(); ++i) {
            const run::FlowRecord& flow = result.flows[i];
            if (flow.group < result.groups.size())
                flows_.emplace(fmt::format("{}[{}]", result.groups[flow.group].name, flow.number), i);
        }
    }

    void read() {
        if (!records_.next(fields_) || fields_ != kHeader) {
            report(1, "has another header", fmt::format("{}", fmt::join(kHeader, ",")));
            return;
        }
        while (!sink_.is_full() && records_.next(fields_)) read_line();
    }

  private:
    void report(int line, std::string problem, std::string expected) {
        sink_.add({.file = file_, .line = line, .problem = std::move(problem), .expected = std::move(expected)});
    }

    void read_line() {
        if (fields_.size() != kSeriesColumns) {
            report(records_.line(), fmt::format("has {} fields", fields_.size()), "5, as the header");
            return;
        }
        const auto time = number_of<int64_t>(fields_[kSeriesTime]);
        const auto value = number_of<double>(fields_[kSeriesValue]);
        if (!time || !value) {
            report(records_.line(),
                   fmt::format("{} is {}", time ? "value" : "time_ps",
                               in_quotes(fields_[time ? kSeriesValue : kSeriesTime])),
                   "a number");
            return;
        }
        const bool goes_on =
            kind_ == fields_[kSeriesKind] && name_ == fields_[kSeriesName] && value_name_ == fields_[kSeriesValueName];
        if (!goes_on) begin();
        const SimTime now = SimTime::ps(*time);
        if (sample_ == result_.sample_times.size()) result_.sample_times.push_back(now);
        if (result_.sample_times[sample_] != now) {
            report(records_.line(), fmt::format("time_ps is {}", *time),
                   fmt::format("{}, the time of sample {}", result_.sample_times[sample_].in_ps(), sample_ + 1));
            return;
        }
        put(*value);
        ++sample_;
    }

    void begin() {
        kind_ = fields_[kSeriesKind];
        name_ = fields_[kSeriesName];
        value_name_ = fields_[kSeriesValueName];
        sample_ = 0;
        sent_bytes_ = 0;
    }

    void put(double value) {
        if (kind_ == "port") put_port(value);
        if (kind_ == "switch" && value_name_ == "buffer_bytes")
            at_least(samples_of_switch().buffer, sample_) = static_cast<sim::ByteCount>(value);
        if (kind_ == "flow") put_flow(value);
    }

    void put_port(double value) {
        if (value_name_ == "sent_bps") {
            // The mean since the sample before: bytes again.
            const SimTime before = sample_ == 0 ? SimTime::zero() : result_.sample_times[sample_ - 1];
            sent_bytes_ += value * (result_.sample_times[sample_] - before).in_s() / 8;
            at_least(samples_of_port().counts, sample_).tx_bytes = static_cast<uint64_t>(std::llround(sent_bytes_));
        } else if (const auto known = kPortValues.find(value_name_); known != kPortValues.end()) {
            known->second(at_least(samples_of_port().counts, sample_), value);
        }
    }

    void put_flow(double value) {
        const auto flow = flows_.find(name_);
        if (flow == flows_.end()) return;  // without flows.csv there are none
        const auto [at, is_new] = flow_samples_.emplace(name_, result_.flow_samples.size());
        if (is_new) result_.flow_samples.push_back({.flow = flow->second});
        run::FlowSamples& samples = result_.flow_samples[at->second];
        if (value_name_ == "rate_bps") at_least(samples.rate, sample_) = sim::BitRate::bps(static_cast<int64_t>(value));
        if (value_name_ == "delivered_bytes") at_least(samples.delivered, sample_) = static_cast<sim::ByteCount>(value);
    }

    run::PortSamples& samples_of_port() {
        const auto [at, is_new] = port_samples_.emplace(name_, result_.port_samples.size());
        if (is_new) {
            result_.port_samples.push_back({.port = static_cast<uint32_t>(result_.ports.size())});
            result_.ports.push_back({.name = name_});
        }
        return result_.port_samples[at->second];
    }

    run::SwitchSamples& samples_of_switch() {
        const auto [at, is_new] = switch_samples_.emplace(name_, result_.switch_samples.size());
        if (is_new) {
            result_.switch_samples.push_back({.node = static_cast<uint32_t>(result_.switches.size())});
            result_.switches.push_back({.name = name_});
        }
        return result_.switch_samples[at->second];
    }

    CsvRecords records_;
    const std::string& file_;
    run::RunResult& result_;
    DiagnosticSink& sink_;
    std::vector<std::string> fields_;
    std::string kind_, name_, value_name_;
    std::size_t sample_ = 0;
    double sent_bytes_ = 0;
    std::map<std::string, uint32_t, std::less<>> flows_;
    std::map<std::string, std::size_t, std::less<>> port_samples_, switch_samples_, flow_samples_;
};

}  // namespace

void read_series(std::string_view text, const std::string& file, run::RunResult& result, DiagnosticSink& sink) {
    SeriesReader(text, file, result, sink).read();
}

}  // namespace simverbs::scenarios::compare
