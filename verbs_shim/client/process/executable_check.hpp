// Can a file be brought into the lab at all?
#pragma once

namespace simverbs::client::process {

enum class Executable {
    Unknown,  ///< not there, not executable, not readable: the kernel's answer counts
    Dynamic,  ///< loads the preload library
    Static,   ///< never does
};

/// Looks at an ELF file's program headers; of a script, at its interpreter's.
Executable check_executable(const char* path);

/// One line on stderr about a program that is not dynamically linked.
void complain_about_static(const char* path);

}  // namespace simverbs::client::process
