#include "scenarios/import/text_lines.hpp"

#include <gtest/gtest.h>

namespace simverbs::scenarios::imports {
namespace {

TEST(TextLines, WordsHaveTheirColumnsAndLinesTheirNumbers) {
    TextLines lines("a  bc\r\n\n\td", "f");
    ASSERT_TRUE(lines.next());
    ASSERT_EQ(lines.words().size(), 2U);
    EXPECT_EQ(lines.words()[1].text, "bc");
    EXPECT_EQ(lines.words()[1].column, 4);
    ASSERT_TRUE(lines.next_with_words());
    EXPECT_EQ(to_string(lines.place(lines.words()[0].column)), "f:3:2");
    EXPECT_FALSE(lines.next());
}

TEST(TextLines, RatesAndTimesAreExact) {
    EXPECT_EQ(parse_ns3_rate("100Gbps"), sim::BitRate::gbps(100));
    EXPECT_EQ(parse_ns3_rate("50Mb/s"), sim::BitRate::mbps(50));
    EXPECT_EQ(parse_ns3_rate("12.5GB/s"), sim::BitRate::gbps(100));
    for (const char* wrong : {"", "100", "Gbps", "-1Gbps", "1.2.3Gbps", "100Gpbs", "99999999999Tbps", "9e9bps"}) {
        EXPECT_FALSE(parse_ns3_rate(wrong)) << wrong;
    }
    EXPECT_EQ(parse_ns3_time("0.001ms"), sim::SimTime::us(1));
    EXPECT_EQ(parse_ns3_time("1000ns"), sim::SimTime::us(1));
    EXPECT_EQ(parse_ns3_time("2"), sim::SimTime::s(2));
    EXPECT_EQ(parse_seconds("2.000000001"), sim::SimTime::s(2) + sim::SimTime::ns(1));
    for (const char* wrong : {"", "1h", "-1", "1e-3", "2.0000000000001", "99999999999999999999"}) {
        EXPECT_FALSE(parse_seconds(wrong)) << wrong;
    }
    EXPECT_FALSE(parse_seconds("2s"));
    EXPECT_FALSE(parse_real("nan"));
    EXPECT_FALSE(parse_real("inf"));
}

}  // namespace
}  // namespace simverbs::scenarios::imports
