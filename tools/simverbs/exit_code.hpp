// What simverbs's exit codes mean (also in its manual page).
#pragma once

namespace simverbs::tools {

enum ExitCode : int {
    kSuccess = 0,
    kProgramFailed = 1,  ///< a program ended with a code that is not 0, or by a signal
    kUsage = 2,          ///< wrong arguments, a wrong lab file, an unknown host, a program that cannot be started
    kStalled = 3,        ///< nothing could happen any more while programs still waited
    kServerError = 4,    ///< simverbs itself could not go on
    kInterrupted = 130,  ///< Ctrl-C or SIGTERM
};

}  // namespace simverbs::tools
