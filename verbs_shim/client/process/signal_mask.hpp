// The signals that are never really blocked, whatever the program asks for.
#pragma once

#include <signal.h>

#include <cstdint>

#include "verbs_shim/protocol/shared_layout.hpp"

namespace simverbs::client::process {

/// As a kernel signal set: bit (signal - 1).
inline constexpr uint64_t kHiddenSignals =
    (uint64_t{1} << (SIGSEGV - 1)) | (uint64_t{1} << (SIGTRAP - 1)) | (uint64_t{1} << (protocol::kProbeSignal - 1));

/// A process image can inherit a mask that blocks them.
void unblock_hidden_signals();

}  // namespace simverbs::client::process
