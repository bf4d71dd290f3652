// What `up` leaves for `on` and `down` to find.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace simverbs::tools {

struct UpState {
    std::string name;
    pid_t pid = 0;
    std::string socket;
    std::vector<std::string> hosts;
};

[[nodiscard]] std::string up_state_file(const std::string& name);
void write_up_state(const UpState& state);
/// Throws UserError if no lab of that name is up; removes what a dead one left.
[[nodiscard]] UpState read_up_state(const std::string& name);
[[nodiscard]] bool is_up(const std::string& name);

}  // namespace simverbs::tools
