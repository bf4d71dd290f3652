// From what the user wrote for a host to something that can be executed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace simverbs::tools {

struct ProgramCommand {
    std::string text;               ///< as the user wrote it
    std::string file;               ///< absolute path of what is executed
    std::vector<std::string> argv;  ///< argv[0] first
    bool by_shell = false;          ///< /bin/sh -c text
};

/// Does the text need a shell (pipes, variables, globs, several commands)?
[[nodiscard]] bool needs_shell(std::string_view text);

/// Splits as a shell does: blanks, '…', "…", backslash. Throws UserError for an open quote.
[[nodiscard]] std::vector<std::string> split_words(std::string_view text);

/// Checks everything that can be checked before anything is started: it exists, is executable, is for this machine
/// and loads libraries (a static binary cannot be brought into a lab). Throws UserError with one clear sentence.
[[nodiscard]] ProgramCommand parse_program(std::string_view text);
[[nodiscard]] ProgramCommand parse_program(std::vector<std::string> argv);

enum class Linkage { Dynamic, Static, Script, NotExecutable };
/// How the file would be loaded.
[[nodiscard]] Linkage linkage_of(const std::string& file);

}  // namespace simverbs::tools
