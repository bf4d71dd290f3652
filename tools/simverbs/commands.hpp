// The commands of simverbs. Each returns an ExitCode; UserError is a user's mistake.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/simverbs/lab_session.hpp"

namespace simverbs::tools {

struct ExecOptions {
    LabRequest lab;
    bool stats = false;
    std::vector<std::string> words;  ///< HOST COMMAND HOST COMMAND …
};
int run_exec(const ExecOptions& options);

/// Of a lab that is up.
inline constexpr char kDefaultLabName[] = "lab";

struct UpOptions {
    LabRequest lab;
    std::string name = kDefaultLabName;
    bool foreground = false;
};
int run_up(const UpOptions& options);
int run_down(const std::string& name);

struct OnOptions {
    std::string name;  ///< "": the lab whose program asks, and for others the default one
    std::string host;
    std::vector<std::string> command;
    bool as_it_is = false;  ///< words of the command; else a line for the shell, as rsh and ssh take it
};
int run_on(const OnOptions& options);

struct RunOptions {
    std::vector<std::string> files;
    std::string out;                    ///< folder of the results
    std::string junit;                  ///< file
    std::vector<std::string> settings;  ///< KEY=VALUE
    std::optional<uint64_t> seed;
    std::optional<int> threads;
    int jobs = 0;  ///< runs side by side; 0: as many as there are cores
};
int run_scenarios(const RunOptions& options);

struct ReportOptions {
    std::vector<std::string> folders;  ///< of runs
    std::string out;                   ///< the page; "": of a name of its own in the current folder
};
int run_report(const ReportOptions& options);

/// Labs and profiles; or the hosts of one lab.
int run_list(const std::string& lab);
int run_check(const std::vector<std::string>& files);
/// The reference of the scenario language in Markdown, or its JSON Schema.
int run_explain_schema(bool json);
/// What a status, an event or a call's errno means; without words: what can be asked.
int run_explain(const std::vector<std::string>& words);

}  // namespace simverbs::tools
