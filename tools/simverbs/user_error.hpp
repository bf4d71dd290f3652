// A user's mistake that ends the command: its message is for the user, its exit code kUsage.
#pragma once

#include <stdexcept>

namespace simverbs::tools {

class UserError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

}  // namespace simverbs::tools
