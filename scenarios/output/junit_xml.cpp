#include "scenarios/output/junit_xml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace simverbs::scenarios::output {

namespace {

struct Counts {
    std::size_t tests = 0;
    std::size_t failures = 0;
    std::size_t errors = 0;
};

Counts counts_of(const JunitRun& run) {
    const auto& verdicts = *run.verdicts;
    const auto number_of = [&](expect::Outcome outcome) {
        return static_cast<std::size_t>(std::count_if(verdicts.begin(), verdicts.end(),
                                                      [&](const auto& verdict) { return verdict.outcome == outcome; }));
    };
    return {std::max<std::size_t>(verdicts.size(), 1), number_of(expect::Outcome::Failed),
            number_of(expect::Outcome::NotEvaluable)};
}

std::string suite_name(const run::RunResult& result) {
    return result.run_name.empty() ? result.scenario : fmt::format("{}[{}]", result.scenario, result.run_name);
}

/// The first line: what CI systems show in lists.
std::string_view headline(std::string_view text) {
    return text.substr(0, text.find('\n'));
}

void write_case(const JunitRun& run, const expect::ExpectationVerdict& verdict, std::string& out) {
    auto to = std::back_inserter(out);
    fmt::format_to(to, "    <testcase classname=\"{}\" name=\"{}\"", xml_text(suite_name(*run.result)),
                   xml_text(verdict.name));
    if (verdict.position.file) {
        fmt::format_to(to, " file=\"{}\" line=\"{}\"", xml_text(verdict.position.file_name()), verdict.position.line);
    }
    if (verdict.outcome == expect::Outcome::Passed) {
        out += "/>\n";
        return;
    }
    const std::string_view tag = verdict.outcome == expect::Outcome::Failed ? "failure" : "error";
    fmt::format_to(to, ">\n      <{} message=\"{}\" type=\"{}\">", tag, xml_text(headline(verdict.sentence)),
                   expect::to_string(verdict.outcome));
    std::string text = verdict.sentence;
    if (!text.empty() && text.back() != '\n') text += '\n';
    if (verdict.text != verdict.name) text += fmt::format("statement: {}\n", verdict.text);
    text += fmt::format("seed: {}\n", run.result->seed);
    if (!run.command.empty()) text += fmt::format("run again: {}\n", run.command);
    fmt::format_to(to, "{}</{}>\n    </testcase>\n", xml_text(text), tag);
}

void write_suite(const JunitRun& run, std::string& out) {
    const Counts counts = counts_of(run);
    const std::string name = xml_text(suite_name(*run.result));
    auto to = std::back_inserter(out);
    fmt::format_to(to, "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\">\n", name, counts.tests,
                   counts.failures, counts.errors);
    fmt::format_to(to, "    <properties>\n      <property name=\"seed\" value=\"{}\"/>\n", run.result->seed);
    for (const auto& [key, value] : run.result->settings) {
        fmt::format_to(to, "      <property name=\"{}\" value=\"{}\"/>\n", xml_text(key), xml_text(value));
    }
    out += "    </properties>\n";
    for (const expect::ExpectationVerdict& verdict : *run.verdicts) write_case(run, verdict, out);
    if (run.verdicts->empty()) fmt::format_to(to, "    <testcase classname=\"{}\" name=\"run\"/>\n", name);
    out += "  </testsuite>\n";
}

}  // namespace

std::string xml_text(std::string_view text) {
    constexpr char kFirstPrintable = 0x20;
    std::string out;
    out.reserve(text.size());
    for (const char c : text) {
        if (c == '&') {
            out += "&amp;";
        } else if (c == '<') {
            out += "&lt;";
        } else if (c == '>') {
            out += "&gt;";
        } else if (c == '"') {
            out += "&quot;";
        } else if (c >= 0 && c < kFirstPrintable && c != '\n' && c != '\t') {
            out += '?';
        } else {
            out += c;
        }
    }
    return out;
}

std::string junit_xml(std::span<const JunitRun> runs) {
    Counts all;
    for (const JunitRun& run : runs) {
        const Counts counts = counts_of(run);
        all.tests += counts.tests;
        all.failures += counts.failures;
        all.errors += counts.errors;
    }
    std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
    fmt::format_to(std::back_inserter(out),
                   "<testsuites name=\"simverbs\" tests=\"{}\" failures=\"{}\" errors=\"{}\">\n", all.tests,
                   all.failures, all.errors);
    for (const JunitRun& run : runs) write_suite(run, out);
    return out + "</testsuites>\n";
}

}  // namespace simverbs::scenarios::output
