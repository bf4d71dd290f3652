#include "verbs_shim/server/numa_placement.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

namespace simverbs::server {
namespace {

TEST(NumaPlacement, NamesANodeOfCpusAndOneOfMemory) {
    const NumaPlacement p = parse_numa_placement("1,0", 2);
    EXPECT_EQ(p.cpu, 1);
    EXPECT_EQ(p.memory, 0);
}

TEST(NumaPlacement, ADashIsTheNearestNode) {
    const NumaPlacement p = parse_numa_placement("-,1", 2);
    EXPECT_EQ(p.cpu, host::kNearestMemory);
    EXPECT_EQ(p.memory, 1);
}

TEST(NumaPlacement, WhatIsNoNodeOfTheHostIsNone) {
    for (const char* text : {"", "1", "2,2", "x,1x", ",", "-1,99999999999"}) {
        const NumaPlacement p = parse_numa_placement(text, 2);
        EXPECT_EQ(p.cpu, host::kNearestMemory) << text;
        EXPECT_EQ(p.memory, host::kNearestMemory) << text;
    }
}

TEST(NumaPlacement, AProcessWithoutNumactlHasNone) {
    const NumaPlacement p = numa_placement_of(::getpid(), 2);
    EXPECT_EQ(p.cpu, host::kNearestMemory);
    EXPECT_EQ(p.memory, host::kNearestMemory);
}

}  // namespace
}  // namespace simverbs::server
