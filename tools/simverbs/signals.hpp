// Ctrl-C and its like, as a flag that loops look at.
#pragma once

namespace simverbs::tools {

/// From now on SIGINT, SIGTERM and SIGHUP only set a flag, and a reader that has gone is an error, not a signal.
void catch_stop_signals();
[[nodiscard]] bool stop_signal_seen() noexcept;

}  // namespace simverbs::tools
