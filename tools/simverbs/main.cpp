// simverbs: unmodified RDMA programs between simulated hosts.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>

#include "tools/simverbs/commands.hpp"
#include "tools/simverbs/exit_code.hpp"
#include "tools/simverbs/user_error.hpp"

namespace simverbs::tools {

namespace {

void add_lab_options(CLI::App& app, LabRequest& lab) {
    app.add_option("--lab", lab.lab, "lab by name (simverbs list) or file")->type_name("NAME|FILE");
    app.add_option("--seed", lab.seed, "another seed: other PSNs, QP numbers, keys; the same verdict");
    app.add_option_function<std::string>(
           "--clock",
           [&lab](const std::string& clock) {
               lab.clock = clock == "wall" ? scenarios::ClockKind::Wall : scenarios::ClockKind::Virtual;
           },
           "virtual: programs live in simulated time (default); wall: real time")
        ->check(CLI::IsMember({"virtual", "wall"}));
    app.add_option("--pcap", lab.pcap_folder, "write one capture per NIC port into this folder")->type_name("DIR");
    app.add_flag("--explain", lab.explain, "tell every QP state change and every failing verbs call on stderr");
    app.add_option("--set", lab.parameters, "set a profile parameter of every NIC, e.g. --set 'wqe_process=200 ns'")
        ->type_name("NAME=VALUE")
        ->allow_extra_args(false);
}

constexpr char kExitCodes[] =
    "exit codes: 0 every program ended with 0; 1 a program failed; 2 wrong usage, lab, host or program;\n"
    "            3 stall (nothing could happen any more); 4 simverbs itself failed; 130 interrupted";

int run(int argc, char** argv) {
    CLI::App app{"simverbs runs unmodified RDMA programs between simulated hosts."};
    app.set_version_flag("--version", "simverbs " SIMVERBS_VERSION);
    app.require_subcommand(1);
    app.footer(kExitCodes);
    int code = kSuccess;

    ExecOptions exec;
    CLI::App* exec_app = app.add_subcommand("exec", "run programs on the hosts of a lab until all have ended");
    add_lab_options(*exec_app, exec.lab);
    exec_app->add_flag("--stats", exec.stats, "a table at the end: calls, system calls, copies");
    exec_app->add_option("programs", exec.words, "HOST 'COMMAND' pairs")->required()->type_name("HOST 'COMMAND' …");
    exec_app->positionals_at_end();
    exec_app->callback([&] { code = run_exec(exec); });

    UpOptions up;
    CLI::App* up_app = app.add_subcommand("up", "start a lab that stays until `simverbs down`");
    add_lab_options(*up_app, up.lab);
    up_app->add_option("lab", up.lab.lab, "lab by name or file")->type_name("LAB");
    up_app->add_option("--name", up.name, "its name for `on` and `down`")->capture_default_str();
    up_app->add_flag("--foreground", up.foreground, "stay in this terminal");
    up_app->callback([&] { code = run_up(up); });

    std::string name = "lab";
    std::string host;
    std::vector<std::string> command;
    CLI::App* on_app = app.add_subcommand("on", "run a program on a host of a lab that is up");
    on_app->add_option("--name", name, "the lab's name")->capture_default_str();
    on_app->add_option("host", host, "host")->required()->type_name("HOST");
    on_app->add_option("command", command, "command and its arguments, after --")->required()->type_name("COMMAND …");
    on_app->positionals_at_end();
    on_app->callback([&] { code = run_on(name, host, command); });

    CLI::App* down_app = app.add_subcommand("down", "end a lab that is up");
    down_app->add_option("--name", name, "the lab's name")->capture_default_str();
    down_app->callback([&] { code = run_down(name); });

    RunOptions scenario;
    CLI::App* run_app =
        app.add_subcommand("run", "run scenarios: fabrics, flows, congestion control, faults, expectations");
    run_app->add_option("files", scenario.files, "scenario files")->required()->type_name("FILE …");
    run_app->add_option("--out", scenario.out, "folder for the results")->type_name("DIR");
    run_app->add_option("--seed", scenario.seed, "instead of the file's");
    run_app->add_option("--threads", scenario.threads, "of each run; results do not depend on it")
        ->check(CLI::Range(1, 64));
    run_app->add_option("--jobs", scenario.jobs, "runs of a sweep side by side (default: as many as cores)")
        ->check(CLI::Range(1, 1024));
    run_app->add_option("--set", scenario.settings, "set a parameter or a key, e.g. --set cc.algorithm=hpcc")
        ->type_name("KEY=VALUE")
        ->allow_extra_args(false);
    run_app->add_option("--junit", scenario.junit, "write the verdicts in JUnit's format")->type_name("FILE");
    run_app->callback([&] { code = run_scenarios(scenario); });

    std::string listed;
    CLI::App* list_app = app.add_subcommand("list", "show labs and NIC profiles, or the hosts of one lab");
    list_app->add_option("lab", listed, "lab by name or file")->type_name("LAB");
    list_app->callback([&] { code = run_list(listed); });

    std::vector<std::string> files;
    CLI::App* check_app = app.add_subcommand("check", "check scenarios and labs without running anything");
    check_app->add_option("files", files, "lab files")->required()->type_name("FILE …");
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
    schema_app->callback([&] { code = run_explain_schema(json_schema); });

    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? kSuccess : kUsage;
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
