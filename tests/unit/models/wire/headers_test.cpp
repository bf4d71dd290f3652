// Round trips of every header, and where their fields lie. What this does not prove: that others read them the same
// way; captures_test.cpp and the conformance tests do.
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

#include "models/wire/aeth.hpp"
#include "models/wire/aeth_syndrome.hpp"
#include "models/wire/atomic_ack_eth.hpp"
#include "models/wire/atomic_eth.hpp"
#include "models/wire/bth.hpp"
#include "models/wire/deth.hpp"
#include "models/wire/ethernet_header.hpp"
#include "models/wire/feth.hpp"
#include "models/wire/grh.hpp"
#include "models/wire/ieth.hpp"
#include "models/wire/imm_dt.hpp"
#include "models/wire/ipv4_header.hpp"
#include "models/wire/ipv6_header.hpp"
#include "models/wire/lrh.hpp"
#include "models/wire/reth.hpp"
#include "models/wire/udp_header.hpp"
#include "models/wire/vlan_tag.hpp"
#include "models/wire/xrceth.hpp"

namespace simverbs::wire {
namespace {

using Bytes = std::vector<std::uint8_t>;

template <typename Header>
Bytes encoded(const Header& header) {
    Bytes bytes(Header::size, 0xEE);
    EXPECT_EQ(header.encode(bytes), Header::size);
    return bytes;
}

/// Bits that `Header` must reproduce; the others are reserved or fixed. Empty: all of them.
template <typename Header>
struct Significant {
    static Bytes mask() { return Bytes(Header::size, 0xFF); }
    static void fix(Bytes&) {}
};
template <>
struct Significant<Lrh> {
    static Bytes mask() { return {0xFF, 0xF3, 0xFF, 0xFF, 0x07, 0xFF, 0xFF, 0xFF}; }
    static void fix(Bytes&) {}
};
template <>
struct Significant<Bth> {
    static Bytes mask() { return {0xFF, 0xFF, 0xFF, 0xFF, 0xC0, 0xFF, 0xFF, 0xFF, 0x80, 0xFF, 0xFF, 0xFF}; }
    static void fix(Bytes&) {}
};
template <>
struct Significant<Deth> {
    static Bytes mask() { return {0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0xFF, 0xFF, 0xFF}; }
    static void fix(Bytes&) {}
};
template <>
struct Significant<XrcEth> {
    static Bytes mask() { return {0x00, 0xFF, 0xFF, 0xFF}; }
    static void fix(Bytes&) {}
};
template <>
struct Significant<Feth> {
    static Bytes mask() { return {0x00, 0x00, 0x00, 0x3F}; }
    static void fix(Bytes&) {}
};
template <>
struct Significant<Ipv4Header> {
    static Bytes mask() {
        Bytes bits(Ipv4Header::size, 0xFF);
        bits[6] = 0x7F;
        return bits;
    }
    static void fix(Bytes& bytes) { bytes[0] = kVersionAndIhl; }
};
template <>
struct Significant<Ipv6Header> {
    static Bytes mask() { return Bytes(Ipv6Header::size, 0xFF); }
    static void fix(Bytes& bytes) { bytes[0] = static_cast<std::uint8_t>(0x60 | (bytes[0] & 0x0F)); }
};

template <typename Header>
class EveryHeader : public testing::Test {};
using Headers = testing::Types<Lrh, Grh, Bth, Reth, Aeth, AtomicEth, AtomicAckEth, Deth, XrcEth, ImmDt, Ieth, Feth,
                               EthernetHeader, VlanTag, Ipv4Header, Ipv6Header, UdpHeader>;
TYPED_TEST_SUITE(EveryHeader, Headers);

TYPED_TEST(EveryHeader, ReproducesRandomBytes) {
    std::mt19937 random(1);
    const Bytes mask = Significant<TypeParam>::mask();
    for (int round = 0; round < 200; ++round) {
        Bytes bytes(TypeParam::size);
        for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
        Significant<TypeParam>::fix(bytes);
        const auto header = TypeParam::decode(bytes);
        ASSERT_TRUE(header);
        Bytes expected = bytes;
        for (std::size_t i = 0; i < expected.size(); ++i) expected[i] &= mask[i];
        ASSERT_EQ(encoded(*header), expected);
        ASSERT_EQ(TypeParam::decode(expected), header) << "reserved bits must not matter";
    }
}

TYPED_TEST(EveryHeader, RefusesOneByteTooFew) {
    Bytes bytes(TypeParam::size - 1);
    Significant<TypeParam>::fix(bytes);
    EXPECT_FALSE(TypeParam::decode(bytes));
    Bytes out(TypeParam::size - 1, 0xEE);
    EXPECT_EQ(TypeParam{}.encode(out), 0u);
    EXPECT_EQ(out, Bytes(TypeParam::size - 1, 0xEE)) << "nothing may be written";
}

TEST(Bth, FieldsLieWhereTheSpecificationPutsThem) {
    Bth bth;
    bth.opcode = 0x0B;
    bth.se = true;
    bth.mig_req = true;
    bth.pad_cnt = 2;
    bth.p_key = 0x8001;
    bth.fecn = true;
    bth.dest_qp = Qpn(0x123456);
    bth.ack_req = true;
    bth.psn = Psn(0xABCDEF);
    EXPECT_EQ(encoded(bth), (Bytes{0x0B, 0xE0, 0x80, 0x01, 0x80, 0x12, 0x34, 0x56, 0x80, 0xAB, 0xCD, 0xEF}));
}

TEST(Lrh, FieldsLieWhereTheSpecificationPutsThem) {
    const Lrh lrh{7, 0, 1, LinkNextHeader::IbaLocal, 0x375C, 14, 0x17D2};
    EXPECT_EQ(encoded(lrh), (Bytes{0x70, 0x12, 0x37, 0x5C, 0x00, 0x0E, 0x17, 0xD2}));
}

TEST(VlanTag, FieldsLieWhereTheStandardPutsThem) {
    EXPECT_EQ(encoded(VlanTag{3, true, 0x123, kEthertypeIpv4}), (Bytes{0x71, 0x23, 0x08, 0x00}));
}

TEST(Ipv4Header, ChecksumOfAKnownHeader) {
    // The worked example of RFC 1071's checksum that circulates most: 192.168.0.1 to 192.168.0.199, UDP, 115 bytes.
    Ipv4Header ip;
    ip.total_length = 0x73;
    ip.source = 0xC0A80001;
    ip.destination = 0xC0A800C7;
    ip.set_checksum();
    EXPECT_EQ(ip.header_checksum, 0xB861);
    EXPECT_EQ(internet_checksum(encoded(ip)), 0);
    ip.set_checksum();
    EXPECT_EQ(ip.header_checksum, 0xB861) << "the old checksum must not count";
}

TEST(Ipv4Header, OptionsAndOtherVersionsAreRefused) {
    Bytes bytes(24);
    bytes[0] = 0x46;
    EXPECT_FALSE(Ipv4Header::decode(bytes));
    bytes[0] = 0x65;
    EXPECT_FALSE(Ipv4Header::decode(bytes));
    EXPECT_FALSE(Ipv6Header::decode(Bytes(40)));
}

TEST(InternetChecksum, OddLengthCountsAsPaddedWithZero) {
    EXPECT_EQ(internet_checksum(Bytes{1, 2, 3}), internet_checksum(Bytes{1, 2, 3, 0}));
}

TEST(Syndrome, EveryByteDecodesAsTheTableSays) {
    for (int byte = 0; byte < 256; ++byte) {
        const auto syndrome = Syndrome::decode(static_cast<std::uint8_t>(byte));
        const bool defined = byte < 0x40 || (byte >= 0x60 && byte < 0x80);
        ASSERT_EQ(syndrome.has_value(), defined) << byte;
        if (syndrome) {
            EXPECT_EQ(syndrome->encode(), byte);
        }
    }
    EXPECT_EQ(Syndrome::nak(NakCode::PsnSequenceError).encode(), 0x60);
    EXPECT_EQ(Syndrome::nak(NakCode::RemoteOperationalError).encode(), 0x63);
    EXPECT_EQ(Syndrome::rnr_nak(14).encode(), 0x2E);
    EXPECT_EQ(Syndrome::ack(kUnlimitedCreditCode).encode(), 0x1F);
}

TEST(Syndrome, CreditCodeIsTheLargestThatPromisesNoMore) {
    EXPECT_EQ(credit_code_for(0), 0);
    EXPECT_EQ(credit_code_for(5), 4);
    EXPECT_EQ(credit_code_for(6), 5);
    EXPECT_EQ(credit_code_for(32768), 30);
    EXPECT_EQ(credit_code_for(0xFFFFFFFF), 30);
}

TEST(Syndrome, TimersAreThoseOfTheSpecification) {
    EXPECT_EQ(rnr_timer_picoseconds(12), 640'000'000);
    EXPECT_EQ(rnr_timer_picoseconds(25), 61'440'000'000);
    EXPECT_EQ(rnr_timer_picoseconds(31), 491'520'000'000);
    EXPECT_EQ(ack_timeout_picoseconds(0), 0);
    EXPECT_EQ(ack_timeout_picoseconds(1), 8'192'000);
    EXPECT_EQ(ack_timeout_picoseconds(31), std::int64_t{4'096'000} << 31);
}

}  // namespace
}  // namespace simverbs::wire
