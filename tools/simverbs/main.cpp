// simverbs: unmodified RDMA programs between simulated hosts.
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <iostream>
#include <limits>
#include <span>
#include <string_view>

#include "tools/simverbs/commands.hpp"
#include "tools/simverbs/exit_code.hpp"
#include "tools/simverbs/usage_text.hpp"
#include "tools/simverbs/user_error.hpp"

namespace simverbs::tools {

namespace {

constexpr char kExitCodesOfExec[] =
    "exit codes: 0 every program ended with 0; 1 a program failed; 2 wrong usage, lab, host or program;\n"
    "            3 stall (nothing could happen any more); 4 simverbs itself failed; 130 interrupted";
constexpr char kExitCodesOfRun[] =
    "exit codes: 0 every expectation is met and every program ended as expected; 1 one is not, or did not;\n"
    "            2 wrong usage or a wrong file; 3 programs stalled (nothing could happen any more);\n"
    "            4 results cannot be written, or simverbs itself failed; 130 interrupted";
constexpr char kExitCodesOfReport[] =
    "exit codes: 0 done; 2 wrong usage, a folder without a finished run, a damaged file, no page in this build;\n"
    "            4 the page cannot be written, or simverbs itself failed";
constexpr char kExitCodesOfCheck[] = "exit codes: 0 all files are right; 2 one is not";
constexpr char kExitCodesOfOn[] =
    "exit codes: those of the program; 2 wrong usage, no such lab or host, or the program cannot be started";
constexpr char kExitCodes[] = "exit codes: 0 done; 2 wrong usage or lab; 4 simverbs itself failed";
constexpr uint64_t kMostSeed = std::numeric_limits<uint64_t>::max();

void add_lab_options(CLI::App& app, LabRequest& lab) {
    app.add_option("--lab", lab.lab, "lab by name (simverbs list) or file")->type_name("NAME|FILE");
    add_number(
        app, "--seed", 0, kMostSeed, "7", [&lab](uint64_t seed) { lab.seed = seed; },
        "another seed: other PSNs, QP numbers, keys; the same verdict");
    add_choice(
        app, "--clock", {"virtual", "wall"},
        [&lab](const std::string& clock) {
            lab.clock = clock == "wall" ? scenarios::ClockKind::Wall : scenarios::ClockKind::Virtual;
        },
        "virtual: programs live in simulated time (default); wall: real time");
    app.add_option("--pcap", lab.pcap_folder, "write one capture per NIC port into this folder")->type_name("DIR");
    app.add_option("--timeline", lab.timeline,
                   "write a page with a ladder diagram of packets, QP states and work requests")
        ->type_name("FILE.html");
    add_number(
        app, "--timeline-packets", 1, 1'000'000, "20000", [&lab](uint64_t most) { lab.timeline_packets = most; },
        fmt::format("how many packets the timeline keeps, the first ones (default: {})", kTimelinePackets));
    app.add_flag("--explain", lab.explain, "tell every QP state change and every failing verbs call on stderr");
    app.add_option("--set", lab.parameters, "set a profile parameter of every NIC, e.g. --set 'wqe_process=200 ns'")
        ->type_name("NAME=VALUE")
        ->allow_extra_args(false);
}

int run(int argc, char** argv) {
    CLI::App app{"simverbs runs unmodified RDMA programs between simulated hosts."};
    app.set_version_flag("--version", "simverbs " SIMVERBS_VERSION);
    app.require_subcommand(1);
    app.footer("simverbs COMMAND --help tells a command's options and exit codes");
    int code = kSuccess;

    ExecOptions exec;
    CLI::App* exec_app = app.add_subcommand("exec", "run programs on the hosts of a lab until all have ended");
    add_lab_options(*exec_app, exec.lab);
    exec_app->add_flag("--stats", exec.stats, "a table at the end: calls, system calls, copies");
    exec_app->add_option("programs", exec.words, "HOST 'COMMAND' pairs")->type_name("HOST 'COMMAND' …");
    exec_app->positionals_at_end();
    exec_app->footer(kExitCodesOfExec);
    exec_app->callback([&] { code = run_exec(exec); });

    UpOptions up;
    CLI::App* up_app = app.add_subcommand("up", "start a lab that stays until `simverbs down`");
    add_lab_options(*up_app, up.lab);
    up_app->add_option("lab", up.lab.lab, "lab by name or file")->type_name("LAB");
    up_app->add_option("--name", up.name, "its name for `on` and `down`")->capture_default_str();
    up_app->add_flag("--foreground", up.foreground, "stay in this terminal");
    up_app->footer(kExitCodes);
    up_app->callback([&] { code = run_up(up); });

    OnOptions on;
    CLI::App* on_app = app.add_subcommand("on", "run a program on a host of a lab that is up");
    on_app->add_option("--name", on.name, "the lab's name; default: lab, or for a program of a lab its own");
    on_app->add_option("host", on.host, "host")->type_name("HOST");
    on_app->add_option("command", on.command, "command and its arguments after --, or a line for the shell")
        ->type_name("COMMAND …");
    on_app->positionals_at_end();
    on_app->footer(kExitCodesOfOn);
    on_app->callback([&] {
        const auto words = std::span(argv, static_cast<size_t>(argc));
        const auto dashes = std::find(words.begin(), words.end(), std::string_view("--"));
        on.as_it_is = dashes != words.end() && dashes != words.begin() && on.host == dashes[-1];
        code = run_on(on);
    });

    CLI::App* down_app = app.add_subcommand("down", "end a lab that is up");
    std::string down_name = kDefaultLabName;
    down_app->add_option("--name", down_name, "the lab's name")->capture_default_str();
    down_app->footer(kExitCodes);
    down_app->callback([&] { code = run_down(down_name); });

    RunOptions scenario;
    CLI::App* run_app =
        app.add_subcommand("run", "run scenarios: fabrics, flows, congestion control, faults, expectations");
    run_app->add_option("files", scenario.files, "scenario files")->type_name("FILE …");
    run_app->add_option("--out", scenario.out, "folder for the results")->type_name("DIR");
    add_number(
        *run_app, "--seed", 0, kMostSeed, "7", [&](uint64_t seed) { scenario.seed = seed; }, "instead of the file's");
    add_number(
        *run_app, "--threads", 1, 64, "2", [&](uint64_t threads) { scenario.threads = static_cast<int>(threads); },
        "of each run; results do not depend on it");
    add_number(
        *run_app, "--jobs", 1, 1024, "2", [&](uint64_t jobs) { scenario.jobs = static_cast<int>(jobs); },
        "runs of a sweep side by side (default: as many as cores)");
    run_app->add_option("--set", scenario.settings, "set a parameter or a key, e.g. --set cc.algorithm=hpcc")
        ->type_name("KEY=VALUE")
        ->allow_extra_args(false);
    run_app->add_option("--junit", scenario.junit, "write the verdicts in JUnit's format")->type_name("FILE");
    run_app->footer(kExitCodesOfRun);
    run_app->callback([&] { code = run_scenarios(scenario); });

    ReportOptions report;
    CLI::App* report_app = app.add_subcommand("report", "compare runs: a table here, a page with charts");
    report_app->add_option("folders", report.folders, "folders of runs; the first is what others are measured by")
        ->type_name("FOLDER …");
    report_app->add_option("--out", report.out, "the page (default: simverbs-report.html)")->type_name("FILE.html");
    report_app->footer(kExitCodesOfReport);
    report_app->callback([&] { code = run_report(report); });

    std::string listed;
    CLI::App* list_app = app.add_subcommand("list", "show labs and NIC profiles, or the hosts of one lab");
    list_app->add_option("lab", listed, "lab by name or file")->type_name("LAB");
    list_app->footer(kExitCodes);
    list_app->callback([&] { code = run_list(listed); });

    std::vector<std::string> files;
    CLI::App* check_app = app.add_subcommand("check", "check scenarios and labs without running anything");
    check_app->add_option("files", files, "lab files")->type_name("FILE …");
    check_app->footer(kExitCodesOfCheck);
    check_app->callback([&] { code = run_check(files); });

    std::vector<std::string> question;
    CLI::App* explain_app =
        app.add_subcommand("explain", "what a status, an event or a call's errno means, and why it comes");
    explain_app->add_option("word", question, "for example WC_RETRY_EXC_ERR, 12, ibv_modify_qp EINVAL; none: all words")
        ->type_name("WORD …");
    explain_app->callback([&] { code = run_explain(question); });

    bool json_schema = false;
    CLI::App* schema_app = app.add_subcommand("explain-schema", "the reference of the scenario language");
    schema_app->add_flag("--json", json_schema, "as a JSON Schema, for editors");
    schema_app->footer(kExitCodes);
    schema_app->callback([&] { code = run_explain_schema(json_schema); });

    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& asked) {  // --help, --version
        return app.exit(asked);
    } catch (const CLI::ParseError& error) {
        std::cerr << usage_text(app, error);
        return kUsage;
    }
    return code;
}

}  // namespace

}  // namespace simverbs::tools

int main(int argc, char** argv) {
    using namespace simverbs::tools;
    try {
        return run(argc, argv);
    } catch (const UserError& error) {
        std::cerr << "simverbs: " << error.what() << '\n';
        return kUsage;
    } catch (const std::exception& error) {
        std::cerr << "simverbs: internal error: " << error.what() << '\n';
        return kServerError;
    }
}
