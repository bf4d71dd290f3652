// Where simverbs finds its own parts, in the build tree and when installed.
#pragma once

#include <string>

namespace simverbs::tools {

/// Absolute path of libsimverbs-preload.so, or of what SIMVERBS_PRELOAD names instead. Throws UserError if it is
/// nowhere.
[[nodiscard]] std::string preload_library();
/// Folder of what stands in for libcuda, libcudart and libgdrapi. Empty if it is nowhere.
[[nodiscard]] std::string gpu_libraries();
/// Folder of the labs that come with simverbs. Throws UserError if it is nowhere.
[[nodiscard]] std::string labs_folder();

}  // namespace simverbs::tools
