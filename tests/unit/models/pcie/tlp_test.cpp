#include "models/pcie/tlp.hpp"

#include <gtest/gtest.h>

namespace simverbs::pcie {
namespace {

TEST(Tlps, OfAWriteAreFramedEach) {
    EXPECT_EQ(wire_bytes(TlpKind::MWr, 4096, 256), 16U * 24 + 4096);
    EXPECT_EQ(wire_bytes(TlpKind::MWr, 257, 256), 2U * 24 + 257);
}
TEST(Tlps, OfAReadCarryNoData) {
    EXPECT_EQ(wire_bytes(TlpKind::MRd, 4096, 512), 8U * 24);
}
TEST(Tlps, OfCompletionsHaveFourBytesLess) {
    EXPECT_EQ(wire_bytes(TlpKind::CplD, 4096, 128), 32U * 20 + 4096);
}
TEST(Tlps, OfNothingIsOne) {
    EXPECT_EQ(tlp_count(0, 256), 1U);
    EXPECT_EQ(wire_bytes(TlpKind::MWr, 0, 256), 24U);
}
TEST(TlpCredits, AreOneHeaderEachAndOneForSixteenBytes) {
    const Credits c = credits_of(TlpKind::MWr, 260, 256);
    EXPECT_EQ(c.headers, 2U);
    EXPECT_EQ(c.data, 17U);
    EXPECT_EQ(credits_of(TlpKind::MRd, 4096, 512).data, 0U);
    EXPECT_EQ(credits_of(TlpKind::MRd, 4096, 512).headers, 8U);
}

}  // namespace
}  // namespace simverbs::pcie
