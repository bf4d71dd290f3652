// What programs print, kept instead of passed on: enough of it to read, all of it looked through.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/lang/std_regex.hpp"
#include "verbs_shim/server/unique_fd.hpp"

namespace simverbs::tools {

/// Reads programs' pipes when told to. A program's text is what it wrote to stdout, then what it wrote to stderr: how
/// the lines of the two lay between each other depends on when the pipes are read, which is no matter of simulated
/// time.
class OutputCapture {
  public:
    /// So much of each stream of a program is kept from its beginning, and as much from its end.
    static constexpr size_t kKeptBytes = 64 * 1024;
    /// Patterns see no more of a line: std::regex recurses once a character.
    static constexpr size_t kMatchedBytes = 4096;

    /// Passes each line on to our own stdout or stderr, too, with the program's prefix in front.
    explicit OutputCapture(bool echo) : echo_(echo) {}

    struct WriteEnds {
        server::UniqueFd out, err;
    };
    /// Pipes for one more program, the next number from 0. `prefix` as in "[server] ".
    WriteEnds add_program(const std::string& prefix);
    /// From now on lines of the program are searched for an ECMAScript regular expression. Returns the watch's number.
    size_t watch(size_t program, const std::string& pattern);

    /// Takes everything that is in the pipes now. True if there was anything.
    bool drain();
    /// The rest, lines without an end included; all programs have ended.
    void finish();

    [[nodiscard]] bool has_matched(size_t watch) const { return watches_[watch].has_matched; }
    /// What the program has printed; a line in brackets stands for what was left out.
    [[nodiscard]] std::string text(size_t program) const;

  private:
    struct Stream {
        server::UniqueFd read_end;
        size_t program = 0;
        std::string partial;
        int to = 1;
    };
    struct Watch {
        size_t program = 0;
        std::regex pattern;
        bool has_matched = false;
    };
    struct Text {
        std::string head, tail;
        uint64_t left_out = 0;
    };
    struct Texts {
        std::string prefix;
        std::array<Text, 2> of_streams;  ///< stdout, stderr
    };
    [[nodiscard]] static std::string kept_of(const Text& text);
    bool drain_stream(Stream& stream);
    void take_lines(Stream& stream);
    void take_line(const Stream& stream, std::string_view line);

    bool echo_;
    std::vector<std::unique_ptr<Stream>> streams_;
    std::vector<Texts> texts_;
    std::vector<Watch> watches_;
    server::UniqueFd any_ready_;  ///< epoll over all read ends: says at little cost that there is nothing
};

}  // namespace simverbs::tools
