#include <fmt/format.h>

#include <map>

#include "scenarios/compare/csv_records.hpp"
#include "scenarios/compare/field_numbers.hpp"
#include "scenarios/compare/read_files.hpp"
#include "scenarios/output/flow_files.hpp"

namespace simverbs::scenarios::compare {

using flow::FlowStatus;
using run::FlowRecord;
using sim::SimTime;

namespace {

enum Column : std::size_t {
    kGroup,
    kNumber,
    kSrc,
    kDst,
    kBytes,
    kStarted,
    kReceived,
    kAcknowledged,
    kStatus,
    kIdeal,
    kRetransmissions,
    kMeasured,
};
const std::vector<std::string> kNames{
    "group",       "number",          "src",    "dst",      "bytes",           "started_ps",
    "received_ps", "acknowledged_ps", "status", "ideal_ps", "retransmissions", "measured"};

class FlowReader {
  public:
    FlowReader(std::string_view text, const std::string& file, run::RunResult& result, DiagnosticSink& sink)
        : records_(text), file_(file), result_(result), sink_(sink) {
        for (uint32_t i = 0; i < result.groups.size(); ++i) groups_.emplace(result.groups[i].name, i);
    }

    void read() {
        std::vector<std::string> missing;
        if (records_.next(fields_)) columns_ = columns_named(fields_, kNames, missing);
        if (columns_.empty()) missing = kNames;
        if (!missing.empty()) {
            sink_.add({.file = file_,
                       .line = 1,
                       .problem = fmt::format("has no column {}", fmt::join(missing, ", ")),
                       .expected = "the header that simverbs run writes"});
            return;
        }
        const std::size_t width = fields_.size();
        while (!sink_.is_full() && records_.next(fields_)) {
            if (fields_.size() == width) {
                result_.flows.push_back(read_flow());
            } else {
                sink_.add({.file = file_,
                           .line = records_.line(),
                           .problem = fmt::format("has {} fields", fields_.size()),
                           .expected = fmt::format("{}, as the header", width)});
            }
        }
    }

  private:
    [[nodiscard]] const std::string& field(Column column) const { return fields_[columns_[column]]; }

    void report(Column column, std::string expected) {
        sink_.add({.file = file_,
                   .line = records_.line(),
                   .path = kNames[column],
                   .problem = "is " + in_quotes(field(column)),
                   .expected = std::move(expected)});
    }

    template <typename Number>
    Number number(Column column) {
        const auto value = number_of<Number>(field(column));
        if (!value) report(column, "a whole number");
        return value.value_or(0);
    }

    SimTime time(Column column) {
        return field(column).empty() ? SimTime::max() : SimTime::ps(number<int64_t>(column));
    }

    uint32_t host(Column column) {
        const auto [at, is_new] = hosts_.emplace(field(column), static_cast<uint32_t>(result_.hosts.size()));
        if (is_new) result_.hosts.push_back({.name = field(column)});
        return at->second;
    }

    FlowStatus status() {
        for (const FlowStatus known : {FlowStatus::Pending, FlowStatus::Success, FlowStatus::RetryExceeded})
            if (field(kStatus) == output::status_text(known)) return known;
        report(kStatus, "one of pending, success, retry_exceeded");
        return FlowStatus::Pending;
    }

    FlowRecord read_flow() {
        FlowRecord flow;
        const auto group = groups_.find(field(kGroup));
        if (group == groups_.end()) {
            report(kGroup, "a group of result.json");
        } else {
            flow.group = group->second;
        }
        flow.number = number<uint32_t>(kNumber);
        flow.src = host(kSrc);
        flow.dst = host(kDst);
        flow.bytes = number<sim::ByteCount>(kBytes);
        flow.started = time(kStarted);
        flow.received = time(kReceived);
        flow.acknowledged = time(kAcknowledged);
        flow.status = status();
        flow.ideal = SimTime::ps(number<int64_t>(kIdeal));
        flow.retransmitted = number<uint32_t>(kRetransmissions);
        flow.is_measured = number<int>(kMeasured) != 0;
        return flow;
    }

    CsvRecords records_;
    const std::string& file_;
    run::RunResult& result_;
    DiagnosticSink& sink_;
    std::vector<std::string> fields_;
    std::vector<std::size_t> columns_;
    std::map<std::string, uint32_t, std::less<>> groups_;
    std::map<std::string, uint32_t, std::less<>> hosts_;
};

}  // namespace

void read_flows(std::string_view text, const std::string& file, run::RunResult& result, DiagnosticSink& sink) {
    FlowReader(text, file, result, sink).read();
}

}  // namespace simverbs::scenarios::compare
