#include "tools/simverbs/install_paths.hpp"

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "tools/simverbs/user_error.hpp"

namespace simverbs::tools {

namespace fs = std::filesystem;

namespace {

fs::path executable_folder() {
    std::error_code error;
    const fs::path self = fs::read_symlink("/proc/self/exe", error);
    return error ? fs::path{} : self.parent_path();
}

std::string first_existing(const char* what, const std::vector<fs::path>& places) {
    for (const fs::path& place : places) {
        std::error_code error;
        if (!place.empty() && fs::exists(place, error)) return fs::weakly_canonical(place, error).string();
    }
    std::string tried;
    for (const fs::path& place : places) tried += place.empty() ? "" : "\n  " + place.string();
    throw UserError(std::string("cannot find ") + what + "; looked for:" + tried);
}

}  // namespace

std::string preload_library() {
    constexpr char kName[] = "libsimverbs-preload.so";
    // The tests of a sanitized server take the client of another build.
    if (const char* given = std::getenv("SIMVERBS_PRELOAD"); given != nullptr && *given != '\0') {
        return first_existing("the preload library that SIMVERBS_PRELOAD names", {given});
    }
    const fs::path here = executable_folder();
    return first_existing("the preload library", {here / "../verbs_shim/client" / kName,  // build tree
                                                  here / ".." / SIMVERBS_LIBDIR / "simverbs" / kName,
                                                  fs::path(SIMVERBS_PREFIX) / SIMVERBS_LIBDIR / "simverbs" / kName});
}

std::string gpu_libraries() {
    const fs::path here = executable_folder();
    for (const fs::path& place : {here / "../verbs_shim/cuda/lib",  // build tree
                                  here / ".." / SIMVERBS_LIBDIR / "simverbs/gpu",
                                  fs::path(SIMVERBS_PREFIX) / SIMVERBS_LIBDIR / "simverbs/gpu"}) {
        std::error_code error;
        if (fs::exists(place, error)) return fs::weakly_canonical(place, error).string();
    }
    return {};
}

std::string labs_folder() {
    const fs::path here = executable_folder();
    // Only a build tree may use the sources: what is installed depends on nothing but itself.
    const bool in_build_tree = fs::exists(here / "../build.ninja");
    return first_existing("the labs that come with simverbs",
                          {in_build_tree ? fs::path(SIMVERBS_SOURCE_ROOT) / "scenarios/library/labs" : fs::path{},
                           here / ".." / SIMVERBS_DATADIR / "simverbs/labs",
                           fs::path(SIMVERBS_PREFIX) / SIMVERBS_DATADIR / "simverbs/labs"});
}

}  // namespace simverbs::tools
