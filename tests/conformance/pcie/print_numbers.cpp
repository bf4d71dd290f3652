// Prints the tables of docs/pcie.md.
#include <cstdio>

#include "tests/conformance/pcie/numbers.hpp"

int main() {
    for (const simverbs::test::NumberTable& t : simverbs::test::pcie_numbers()) std::printf("%s\n", t.rows.c_str());
}
