// What the programs print, line by line, with the host in front.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "verbs_shim/server/unique_fd.hpp"

namespace simverbs::tools {

/// Reads the programs' pipes when told to (the order of lines is the order of turns) and writes to our own stdout and
/// stderr. A line is passed on when it is complete, what is left of one at the end.
class OutputRelay {
  public:
    struct WriteEnds {
        server::UniqueFd out, err;
    };
    /// Pipes for one more program; `prefix` as in "[h0] ".
    WriteEnds add_program(const std::string& prefix);
    /// Passes on everything that is in the pipes now. True if there was anything.
    bool drain();
    /// The rest, partial lines included; all programs have ended.
    void finish();
    /// A line of simverbs itself on stderr, after what the programs have printed so far.
    void say(std::string_view line);

  private:
    struct Stream {
        server::UniqueFd read_end;
        std::string prefix;
        std::string partial;
        int to = 1;
    };
    bool drain_stream(Stream& stream);
    void pass_lines(Stream& stream);

    std::vector<std::unique_ptr<Stream>> streams_;
    server::UniqueFd any_ready_;  ///< epoll over all read ends: says at little cost that there is nothing
};

/// Writes everything to `fd`, whatever it takes; gives up if the reader has gone.
void write_all(int fd, std::string_view text);

}  // namespace simverbs::tools
