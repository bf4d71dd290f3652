#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/conformance/pcie/numbers.hpp"

namespace simverbs {
namespace {

TEST(PcieChapter, HasTheNumbersThatTheModelGivesNow) {
    std::ifstream file(PCIE_CHAPTER);
    std::stringstream chapter;
    chapter << file.rdbuf();
    for (const test::NumberTable& t : test::pcie_numbers())
        EXPECT_NE(chapter.str().find(t.rows), std::string::npos)
            << "docs/pcie.md has another table of " << t.title
            << " (build/tests/conformance/pcie/pcie_numbers prints all):\n"
            << t.rows;
}

}  // namespace
}  // namespace simverbs
