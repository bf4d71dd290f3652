// The commands of simverbs. Each returns an ExitCode; UserError is a user's mistake.
#pragma once

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

struct UpOptions {
    LabRequest lab;
    std::string name = "lab";
    bool foreground = false;
};
int run_up(const UpOptions& options);
int run_down(const std::string& name);
int run_on(const std::string& name, const std::string& host, const std::vector<std::string>& command);

/// Labs and profiles; or the hosts of one lab.
int run_list(const std::string& lab);
int run_check(const std::vector<std::string>& files);

}  // namespace simverbs::tools
