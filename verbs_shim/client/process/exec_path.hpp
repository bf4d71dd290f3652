// Where execvp, posix_spawnp and the shell find a program.
#pragma once

#include <cstddef>

namespace simverbs::client::process {

inline constexpr size_t kMaxPath = 4096;
inline constexpr size_t kMaxShellArguments = 1024;

/// Searches PATH for `file` (a name with a slash is taken as it is). Returns 0 or the errno of execvp.
int find_in_path(const char* file, char (&path)[kMaxPath]);

/// True if the file is executable but neither ELF nor a #! script: execvp gives it to the shell.
bool is_plain_script(const char* path);

/// execve of a lab process; returns -1 with errno if it failed.
int exec_into_lab(const char* path, char* const* argv, char* const* envp);

}  // namespace simverbs::client::process
