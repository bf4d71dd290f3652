#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "scenarios/lang/scenario_reading.hpp"
#include "scenarios/lang/scenario_schemas.hpp"
#include "scenarios/lang/std_regex.hpp"

namespace simverbs::scenarios {

namespace {

void read_command(const Section& section, ProgramSpec& program, DiagnosticSink& sink) {
    const YamlValue* node = section.node("command");
    if (node == nullptr) return;
    program.command_position = node->position;
    const std::string path = section.path("command");
    const std::string expected = expected_value(*kProgramSchema.find("command"));
    if (node->kind == YamlKind::Scalar) {
        program.command_line = node->text;
        if (node->text.find_first_not_of(" \t\n") == std::string::npos) {
            sink.add(node->position, path, "is empty", expected);
        }
        return;
    }
    if (node->kind == YamlKind::Sequence && node->items.empty()) {
        sink.add(node->position, path, "is an empty list", expected);
        return;
    }
    if (node->kind != YamlKind::Sequence) {
        report_wrong_shape(*node, path, expected, sink);
        return;
    }
    for (std::size_t i = 0; i < node->items.size(); ++i) {
        const YamlValue& item = *node->items[i];
        if (item.kind == YamlKind::Scalar) {
            program.arguments.push_back(item.text);
        } else {
            report_wrong_shape(item, item_path(path, i), "an argument", sink);
        }
    }
}

void read_ready(const Section& section, ProgramSpec& program, DiagnosticSink& sink) {
    const YamlValue* node = section.node("ready");
    if (node == nullptr) return;
    const Section ready(kReadySchema, *node, section.path("ready"), sink);
    const int given = static_cast<int>(ready.writes("prints")) + static_cast<int>(ready.writes("listens")) +
                      static_cast<int>(ready.writes("after"));
    if (given != 1) {
        sink.add(ready.position(), ready.path(), given == 0 ? "says nothing" : "says more than one thing",
                 "one of 'prints', 'listens' and 'after'");
        return;
    }
    if (ready.has("prints")) {
        program.ready = ReadyKind::Prints;
        program.ready_pattern = ready.text("prints");
        check_pattern(ready, "prints", sink);
    } else if (ready.has("listens")) {
        program.ready = ReadyKind::Listens;
        program.ready_port = static_cast<int>(ready.integer("listens"));
    } else if (ready.has("after")) {
        program.ready = ReadyKind::After;
        program.ready_after = ready.time("after");
    }
}

ProgramSpec read_program(ScenarioReading& reading, const Section& section) {
    ProgramSpec program;
    program.path = section.path();
    program.position = section.position();
    if (auto host = read_host_ref(reading, section, "host")) program.host = std::move(*host);
    read_command(section, program, reading.sink);
    read_ready(section, program, reading.sink);
    const InheritedSection expect(kProgramExpectSchema, section, "expect", reading.sink);
    program.expected_exit = static_cast<int>(expect->integer("exit"));
    program.expected_output = expect->text("output");
    check_pattern(*expect, "output", reading.sink);
    program.timeout = section.time("timeout");
    return program;
}

}  // namespace

void check_pattern(const Section& section, std::string_view key, DiagnosticSink& sink) {
    if (!section.has(key)) return;
    // std::regex recurses once a character: a hostile pattern must not end the process.
    constexpr std::size_t kMostBytes = 1000;
    const std::string text = section.text(key);
    if (text.size() > kMostBytes) {
        sink.add(section.position(key), section.path(key), "the regular expression is too long",
                 fmt::format("at most {} bytes", kMostBytes));
        return;
    }
    try {
        const std::regex pattern(text, std::regex::ECMAScript);
    } catch (const std::regex_error&) {
        sink.add(section.position(key), section.path(key), in_quotes(text) + " is not a regular expression",
                 "one of ECMAScript's, such as 'BW average.*'");
    }
}

void read_programs(ScenarioReading& reading, const Section& scenario) {
    const std::vector<YamlPtr> items = read_list(scenario, "programs", reading.sink);
    std::vector<ProgramSpec>& programs = reading.spec.programs;
    for (std::size_t i = 0; i < items.size(); ++i) {
        const Section section(kProgramSchema, *items[i], item_path(scenario.path("programs"), i), reading.sink);
        if (items[i]->kind != YamlKind::Map) {
            reading.program_names_are_complete = false;
            continue;
        }
        ProgramSpec program = read_program(reading, section);
        if (section.writes("name") && !section.has("name")) reading.program_names_are_complete = false;
        program.name = section.has("name") ? section.text("name") : fmt::format("program{}", i);
        const bool is_taken = std::any_of(programs.begin(), programs.end(),
                                          [&](const ProgramSpec& other) { return other.name == program.name; });
        if (is_taken) {
            reading.sink.add(section.position("name"), section.path("name"),
                             fmt::format("the name '{}' is taken", program.name), "a name of its own");
        }
        programs.push_back(std::move(program));
    }
}

void read_outputs(ScenarioReading& reading, const Section& scenario) {
    const InheritedSection section(kOutputsSchema, scenario, "outputs", reading.sink);
    OutputsSpec& out = reading.spec.outputs;
    out.flows = section->flag("flows");
    out.hpcc_fct = section->flag("hpcc_fct");
    out.counters = section->flag("counters");
    out.perfetto = section->flag("perfetto");
    out.report = section->flag("report");
    out.pcap = read_places(reading, *section, "pcap");
    out.timeline = section->flag("timeline");
    out.timeline_packets = static_cast<uint64_t>(section->integer("timeline_packets"));
    out.timeline_position = section->position("timeline");
    out.timeline_path = section->path("timeline");
    if (section->node("series") == nullptr) return;
    const InheritedSection series(kSeriesSchema, *section, "series", reading.sink);
    SeriesSpec spec;
    spec.interval = series->time("interval");
    spec.what =
        series->has("what") ? series->choices("what") : std::vector<std::string>{"queue", "rate", "utilisation"};
    const YamlValue* at = series->node("at");
    spec.is_everywhere = at == nullptr || (at->kind == YamlKind::Scalar && at->text == "all");
    if (!spec.is_everywhere) spec.at = read_places(reading, *series, "at");
    out.series = std::move(spec);
}

void read_run(ScenarioReading& reading, const Section& scenario) {
    const InheritedSection section(kRunSchema, scenario, "run", reading.sink);
    const InheritedSection measure(kMeasureSchema, *section, "measure", reading.sink);
    RunSpec& out = reading.spec.run;
    if (section->has("until")) out.until = section->time("until");
    out.stop_when = section->text("stop_when") == "until" ? StopWhen::Until : StopWhen::AllFlowsDone;
    if (out.stop_when == StopWhen::Until && !section->writes("until")) {
        reading.sink.add(section->position("stop_when"), section->path("stop_when"), "nothing would end the run",
                         "also 'until'");
    }
    out.threads = static_cast<int>(section->integer("threads"));
    if (section->has("window")) out.window = section->time("window");
    out.warm_up = section->time("warm_up");
    out.measure_from = std::max(out.warm_up, measure->time("from"));
    if (out.until && out.measure_from >= *out.until) {
        const bool is_warm_up = out.measure_from == out.warm_up;
        reading.sink.add(is_warm_up ? section->position("warm_up") : measure->position("from"),
                         is_warm_up ? section->path("warm_up") : measure->path("from"), "nothing is measured",
                         "a time before 'run.until'");
    }
    if (!measure->has("until")) return;
    out.measure_until = measure->time("until");
    if (*out.measure_until <= out.measure_from) {
        reading.sink.add(measure->position("until"), measure->path("until"), "nothing is measured",
                         "a time after 'from' and 'warm_up'");
    }
}

}  // namespace simverbs::scenarios
