#include "scenarios/lang/scenario_schemas.hpp"

#include <array>

#include "scenarios/lang/lab_fields.hpp"

namespace simverbs::scenarios {

namespace {

using namespace std::string_view_literals;
using C = FieldKind;

template <std::size_t A, std::size_t B>
constexpr std::array<Field, A + B> joined(const std::array<Field, A>& a, const std::array<Field, B>& b) {
    std::array<Field, A + B> out{};
    for (std::size_t i = 0; i < A; ++i) out[i] = a[i];
    for (std::size_t i = 0; i < B; ++i) out[A + i] = b[i];
    return out;
}

constexpr std::array kRecoveries{"go_back_n"sv, "selective_repeat"sv};
constexpr std::array kWindows{"none"sv, "bdp"sv};
constexpr std::array kStops{"all_flows_done"sv, "until"sv};
constexpr std::array kSeriesNames{"queue"sv, "rate"sv, "utilisation"sv, "pauses"sv, "marks"sv, "buffer"sv};

constexpr std::array kDynamicFields{
    Field{.key = "include",
          .kind = C::Structure,
          .help = "Files that are read before this one, relative to it. Maps are merged key by key, all else is "
                  "replaced; a map with another `kind` or `algorithm` is replaced as a whole.",
          .shape = "a file or a list of files",
          .forms = kFormText | kFormTexts},
    Field{.key = "parameters",
          .kind = C::Structure,
          .help = "Values with names: `${name}` stands for the value anywhere in the file (`$${` for a plain `${`); "
                  "`--set name=value` changes it.",
          .shape = "a map from names to values",
          .forms = kFormValuesMap},
    Field{.key = "sweep",
          .kind = C::Structure,
          .help = "One run for each combination of these values of parameters and keys (`cc.algorithm`).",
          .shape = "a map from parameters or keys to lists of values",
          .forms = kFormValuesMap},
    Field{.key = "transport", .kind = C::Section, .help = "How flows are carried.", .component = &kTransportSchema},
    Field{.key = "cc",
          .kind = C::Structure,
          .help = "Congestion control.",
          .component = &kCcSchema,
          .shape = "an algorithm's name or a map with 'algorithm'",
          .default_note = "none",
          .forms = kFormText | kFormMap},
    Field{.key = "workloads",
          .kind = C::Structure,
          .help = "Traffic: a list of maps, each with its `kind` and its keys.",
          .shape = "a list of maps with 'kind'",
          .forms = kFormList,
          .variants = &workload_schemas},
    Field{.key = "programs",
          .kind = C::Structure,
          .help = "Programs that run on hosts, started in this order. A host of programs has no flows.",
          .component = &kProgramSchema,
          .shape = "a list of maps with 'host' and 'command'",
          .forms = kFormList},
    Field{.key = "faults",
          .kind = C::Structure,
          .help = "What goes wrong.",
          .component = &kAddressedFaultSchema,
          .shape = "a list of maps of faults",
          .forms = kFormList},
    Field{.key = "expectations",
          .kind = C::Structure,
          .help = "Statements that must be true of the run.",
          .component = &kExpectationSchema,
          .shape = "a list of statements such as 'fct.slowdown.p99 of websearch < 10'",
          .forms = kFormTexts | kFormList},
    Field{.key = "outputs", .kind = C::Section, .help = "What is written.", .component = &kOutputsSchema},
    Field{.key = "run", .kind = C::Section, .help = "How long and how it runs.", .component = &kRunSchema},
};
constexpr auto kScenarioFields = joined(kLabFields, kDynamicFields);

constexpr std::array kTransportFields{
    Field{.key = "payload",
          .kind = C::Size,
          .default_text = "4096 B",
          .help = "Payload of a full packet.",
          .least = "64 B",
          .most = "9000 B"},
    Field{.key = "loss_recovery",
          .kind = C::Choice,
          .default_text = "go_back_n",
          .help = "What is sent again after a loss: all from the lost packet on, or it alone (IRN).",
          .choices = kRecoveries},
    Field{.key = "ack_every",
          .kind = C::Integer,
          .default_text = "1",
          .help = "Data packets for one ACK.",
          .least = "1",
          .most = "65535"},
    Field{.key = "retransmission_timeout",
          .kind = C::Time,
          .default_text = "67108864 ns",
          .help = "Without any answer for so long, unacknowledged packets are sent again.",
          .least = "1 us",
          .most = "10000 s",
          .default_note = "67108864 ns: 4.096 us × 2^14, perftest's"},
    Field{.key = "retry_cnt",
          .kind = C::Integer,
          .default_text = "7",
          .help = "Timeouts in a row without progress after which a flow ends in an error.",
          .least = "0",
          .most = "7"},
    Field{.key = "window",
          .kind = C::Size,
          .default_text = "none",
          .help = "Most bytes in flight of a flow; bdp: the base RTT times the link's rate.",
          .least = "64 B",
          .most = "1 GiB",
          .words = kWindows},
};

constexpr std::array kCcFields{
    Field{.key = "algorithm", .kind = C::Text, .default_text = "none", .help = "Which one."},
    Field{.key = "preset", .kind = C::Name, .help = "A named set of its parameters.", .default_note = "its defaults"},
};

constexpr std::array kProgramFields{
    Field{.key = "name", .kind = C::Name, .help = "What reports call it.", .default_note = "program0, program1, …"},
    Field{.key = "host", .kind = C::Text, .help = "The host that it runs on.", .required = true},
    Field{.key = "command",
          .kind = C::Structure,
          .help = "The program and its arguments.",
          .shape = "a command line, or a list of the program and its arguments",
          .required = true,
          .forms = kFormText | kFormTexts},
    Field{.key = "ready",
          .kind = C::Section,
          .help = "When it is ready, the next program of the list starts.",
          .component = &kReadySchema,
          .default_note = "at once"},
    Field{.key = "expect",
          .kind = C::Section,
          .help = "How it must end.",
          .component = &kProgramExpectSchema,
          .default_note = "exit code 0"},
    Field{.key = "timeout",
          .kind = C::Time,
          .default_text = "60 s",
          .help = "Simulated time after which it is ended and has failed.",
          .least = "1 us"},
};
constexpr std::array kReadyFields{
    Field{.key = "prints", .kind = C::Text, .help = "When it has printed a line that this regular expression matches."},
    Field{.key = "listens",
          .kind = C::Integer,
          .help = "When it listens on this TCP port.",
          .least = "1",
          .most = "65535"},
    Field{.key = "after", .kind = C::Time, .help = "So long after its start."},
};
constexpr std::array kProgramExpectFields{
    Field{.key = "exit",
          .kind = C::Integer,
          .default_text = "0",
          .help = "Its exit code; a signal n counts as 128 + n.",
          .least = "0",
          .most = "255"},
    Field{.key = "output", .kind = C::Text, .help = "A regular expression that its output must match somewhere."},
};

constexpr std::array kExpectationFields{
    Field{.key = "name", .kind = C::Text, .help = "What reports call it.", .default_note = "the statement"},
    Field{.key = "expect", .kind = C::Text, .help = "The statement.", .required = true},
};

constexpr std::array kOutputsFields{
    Field{.key = "flows", .kind = C::Flag, .default_text = "true", .help = "flows.csv: one line for each flow."},
    Field{.key = "hpcc_fct",
          .kind = C::Flag,
          .default_text = "false",
          .help = "fct.txt: the flows in the format of the HPCC simulator."},
    Field{.key = "counters", .kind = C::Flag, .default_text = "true", .help = "counters.csv: every port's counters."},
    Field{.key = "series", .kind = C::Section, .help = "Values over time.", .component = &kSeriesSchema},
    Field{.key = "pcap",
          .kind = C::Structure,
          .help = "A capture of each of these ports, of hosts that run programs.",
          .shape = "a port such as 'h0' or 'h0.mlx5_0/1', or a list of ports",
          .forms = kFormText | kFormTexts},
    Field{.key = "perfetto", .kind = C::Flag, .default_text = "false", .help = "A trace for ui.perfetto.dev."},
    Field{.key = "report", .kind = C::Flag, .default_text = "true", .help = "report.html: a page with plots."},
    Field{.key = "timeline",
          .kind = C::Flag,
          .default_text = "false",
          .help = "timeline.html: a page with a ladder diagram of programs' packets, QP states and work requests."},
    Field{.key = "timeline_packets",
          .kind = C::Integer,
          .default_text = "5000",
          .help = "How many packets the timeline keeps, the first ones.",
          .least = "1",
          .most = "1000000"},
};
constexpr std::array kSeriesFields{
    Field{.key = "interval",
          .kind = C::Time,
          .default_text = "10 us",
          .help = "Time between two values.",
          .least = "1 ns",
          .most = "1000 s"},
    Field{.key = "what",
          .kind = C::Choices,
          .help = "Which values.",
          .choices = kSeriesNames,
          .default_note = "[queue, rate, utilisation]"},
    Field{.key = "at",
          .kind = C::Structure,
          .help = "Of which ports, switches or hosts.",
          .shape = "all, a place such as 'tor0/3', or a list of places",
          .default_note = "all",
          .forms = kFormText | kFormTexts},
};

constexpr std::array kRunFields{
    Field{.key = "until",
          .kind = C::Time,
          .help = "The run ends at this simulated time at the latest.",
          .least = "1 ps",
          .default_note = "no limit"},
    Field{.key = "stop_when",
          .kind = C::Choice,
          .default_text = "all_flows_done",
          .help = "What ends the run.",
          .choices = kStops},
    Field{.key = "threads",
          .kind = C::Integer,
          .default_text = "1",
          .help = "Threads of the engine; the result is the same.",
          .least = "1",
          .most = "1024"},
    Field{.key = "window",
          .kind = C::Time,
          .help = "Length of the engine's windows; the result is the same.",
          .least = "1 ps",
          .most = "1 s",
          .default_note = "the smallest latency of a link"},
    Field{.key = "warm_up",
          .kind = C::Time,
          .default_text = "0 s",
          .help = "Flows that start before this are not measured."},
    Field{.key = "measure",
          .kind = C::Section,
          .help = "Only flows that start in this time are measured.",
          .component = &kMeasureSchema},
};
constexpr std::array kMeasureFields{
    Field{.key = "from", .kind = C::Time, .default_text = "0 s", .help = "The first instant."},
    Field{.key = "until", .kind = C::Time, .help = "The first instant after it.", .default_note = "the end"},
};

}  // namespace

constexpr ComponentSchema kScenarioSchema{
    "scenario", "The file as a whole: everything that a lab has, traffic, programs, faults, and what is expected.",
    kScenarioFields};
constexpr ComponentSchema kTransportSchema{"transport", "Reliable connections of the scenario's own flows.",
                                           kTransportFields};
constexpr ComponentSchema kCcSchema{
    "cc",
    "Congestion control. All other keys are parameters of the algorithm. A map named like an algorithm holds "
    "parameters that count only if that one is chosen, which a sweep over algorithms needs.",
    kCcFields};
constexpr ComponentSchema kProgramSchema{"program", "A program of yours on a simulated host.", kProgramFields};
constexpr ComponentSchema kReadySchema{"ready", "When a program is ready: exactly one of these.", kReadyFields};
constexpr ComponentSchema kProgramExpectSchema{"expect", "How a program must end.", kProgramExpectFields};
constexpr ComponentSchema kExpectationSchema{
    "expectation", "A statement about the run, see [expectations](#expectations).", kExpectationFields};
constexpr ComponentSchema kOutputsSchema{"outputs", "What a run writes into its folder beside result.json.",
                                         kOutputsFields};
constexpr ComponentSchema kSeriesSchema{"series", "Time series, streamed while the run goes on.", kSeriesFields};
constexpr ComponentSchema kRunSchema{"run", "Beginning, end and speed of a run.", kRunFields};
constexpr ComponentSchema kMeasureSchema{"measure", "The time that counts.", kMeasureFields};

}  // namespace simverbs::scenarios
