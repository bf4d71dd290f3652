// Runs the cases that it is told (all, if none) and prints a row of each: posts that failed, completions of A and B in
// order, async events, final states, notes. Which rows are right, and why, is run_verbs_cases.py's business.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "tests/conformance/verbs/cases/rig.hpp"

int main(int argc, char** argv) {
    using namespace verbs_cases;
    const std::vector<std::string> wanted(argv + 1, argv + argc);
    std::puts("case,posts_failed,completions_A,completions_B,async,A_final,B_final,notes");
    for (const auto& group :
         {request_cases(), state_cases(), queue_cases(), window_cases(), argument_cases(), own_cases()}) {
        for (const Case& one : group) {
            if (!wanted.empty() && std::ranges::find(wanted, one.name) == wanted.end()) continue;
            std::puts(one.run(one.name).c_str());
            std::fflush(stdout);
        }
    }
    return 0;
}
