// The interface as the dynamic linker sees it: our library against the real one.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>

#include "tests/unit/verbs_shim/verbs/fixture.hpp"

namespace simverbs::test {
namespace {

/// "name@version" and "name@@version" (default) of every function that `library` exports at a version IBVERBS_*.
std::set<std::string> exported(const std::string& library) {
    std::set<std::string> found;
    FILE* const nm = popen(("nm -D --defined-only --with-symbol-versions '" + library + "'").c_str(), "r");
    char line[512];
    while (nm != nullptr && std::fgets(line, sizeof line, nm) != nullptr) {
        char kind = 0, name[400] = {};
        if (std::sscanf(line, "%*s %c %399s", &kind, name) != 2 || kind != 'T') continue;
        const std::string symbol = name;
        if (symbol.find("@IBVERBS_") != std::string::npos) found.insert(symbol);
    }
    if (nm != nullptr) pclose(nm);
    return found;
}

std::string real_library() {
    void* const real = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL);
    Dl_info info{};
    if (real == nullptr || dladdr(dlsym(real, "ibv_get_device_list"), &info) == 0) return {};
    return info.dli_fname;
}

TEST(Exports, EveryPublicSymbolAtEveryVersionWithTheSameDefaults) {
    const std::string real = real_library();
    if (real.empty()) GTEST_SKIP() << "no libibverbs.so.1 to compare with";
    const auto ours = exported(SIMVERBS_LIBRARY_UNDER_TEST);
    const auto theirs = exported(real);
    ASSERT_GT(theirs.size(), 50U) << "nm did not work";
    for (const auto& symbol : theirs) {
        if (symbol.find("PRIVATE") != std::string::npos) continue;
        EXPECT_TRUE(ours.count(symbol) == 1) << symbol << " is missing";
    }
    for (const auto& symbol : ours) {
        if (symbol.find("PRIVATE") != std::string::npos) continue;
        EXPECT_TRUE(theirs.count(symbol) == 1) << symbol << " is not in the real library";
    }
}

TEST(Exports, NothingButVerbsLeavesTheLibrary) {
    FILE* const nm =
        popen("nm -D --defined-only '" SIMVERBS_LIBRARY_UNDER_TEST "' | awk '$2 != \"A\" {print $3}'", "r");
    ASSERT_NE(nm, nullptr);
    char name[512];
    while (std::fscanf(nm, "%511s", name) == 1) {
        EXPECT_NE(std::string(name).find('@'), std::string::npos) << name << " would clash with the program's own";
    }
    pclose(nm);
}

TEST(Exports, LooksUpUnderVersionsAndWithout) {
    void* const ours = dlopen(SIMVERBS_LIBRARY_UNDER_TEST, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(ours, nullptr) << dlerror();
    EXPECT_NE(dlvsym(ours, "ibv_open_device", "IBVERBS_1.1"), nullptr);
    EXPECT_EQ(dlsym(ours, "ibv_open_device"), dlvsym(ours, "ibv_open_device", "IBVERBS_1.1"));
    EXPECT_NE(dlvsym(ours, "ibv_open_device", "IBVERBS_1.0"), dlvsym(ours, "ibv_open_device", "IBVERBS_1.1"));
    EXPECT_NE(dlvsym(ours, "ibv_query_qp_data_in_order", "IBVERBS_1.14"), nullptr);
}

TEST(Exports, AnUnmodifiedCProgramFindsEveryOperationUnderPreload) {
    server();
    // The library stands before a sanitizer's run time, which says so; here both have it, so that nothing is missed.
    const std::string command =
        "ASAN_OPTIONS=\"$ASAN_OPTIONS:verify_asan_link_order=0\" LD_PRELOAD='" SIMVERBS_LIBRARY_UNDER_TEST
        "' '" SIMVERBS_C_PROGRAM "' 2>&1";
    FILE* const program = popen(command.c_str(), "r");
    ASSERT_NE(program, nullptr);
    std::string output;
    char line[512];
    while (std::fgets(line, sizeof line, program) != nullptr) output += line;
    const int status = pclose(program);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << output;
    EXPECT_NE(output.find("mlx5_0: all operations present"), std::string::npos) << output;
}

}  // namespace
}  // namespace simverbs::test
