#pragma once

#include <gtest/gtest.h>

#include "random_network.hpp"

namespace simverbs::sim::test {

/// Everything equal, with the first difference in the message.
inline void expect_same(const Outcome& expected, const Outcome& got) {
    for (size_t i = 0; i < std::min(expected.trace.size(), got.trace.size()); ++i) {
        const TraceRecord& e = expected.trace[i];
        const TraceRecord& g = got.trace[i];
        ASSERT_TRUE(e.key == g.key && e.kind == g.kind && e.a == g.a && e.b == g.b)
            << "record " << i << ": expected " << e.key.time.in_ps() << " ps phase " << static_cast<int>(e.key.phase)
            << " source " << std::hex << e.key.source << ", got " << std::dec << g.key.time.in_ps() << " ps phase "
            << static_cast<int>(g.key.phase) << " source " << std::hex << g.key.source;
    }
    ASSERT_EQ(expected.trace.size(), got.trace.size());
    EXPECT_EQ(expected.node_hashes, got.node_hashes);
    EXPECT_EQ(expected.outside, got.outside);
}

}  // namespace simverbs::sim::test
