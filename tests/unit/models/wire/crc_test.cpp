// Both CRCs: the specification's own example, bit-by-bit definitions, and what masks let through.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "models/wire/byte_order.hpp"
#include "models/wire/frame_builder.hpp"
#include "models/wire/icrc.hpp"
#include "models/wire/vcrc.hpp"

namespace simverbs::wire {
namespace {

using Bytes = std::vector<std::uint8_t>;

// The local packet that IBTA vol. 1, 7.8 works out; its ICRC on the wire is 96 25 B7 5A.
const Bytes kSpecificationPacket = {0x70, 0x12, 0x37, 0x5C, 0x00, 0x0E, 0x17, 0xD2, 0x0A, 0x20, 0x24, 0x87, 0x00,
                                    0x87, 0xB1, 0xB3, 0x00, 0x0D, 0xEC, 0x2A, 0x01, 0x71, 0x0A, 0x1C, 0x01, 0x5D,
                                    0x40, 0x02, 0x38, 0xF2, 0x7A, 0x05, 0x00, 0x00, 0x00, 0x0E, 0xBB, 0x88, 0x4D,
                                    0x85, 0xFD, 0x5C, 0xFB, 0xA4, 0x72, 0x8B, 0xC0, 0x69, 0x0E, 0xD4, 0x00, 0x00};

/// The definition: a shift register that takes each byte's least significant bit first.
std::uint16_t vcrc_by_definition(const Bytes& bytes) {
    std::uint32_t remainder = 0xFFFF;  // coefficient of x^15 in bit 15
    for (const std::uint8_t byte : bytes) {
        for (int bit = 0; bit < 8; ++bit) {
            const bool feedback = ((remainder >> 15) ^ (byte >> bit)) & 1;
            remainder = (remainder << 1) & 0xFFFF;
            if (feedback) remainder ^= kVcrcPolynomial;
        }
    }
    remainder ^= 0xFFFF;
    std::uint16_t sent = 0;  // the highest term is sent first, in the lowest bit of the first byte
    for (int bit = 0; bit < 16; ++bit) sent |= static_cast<std::uint16_t>(((remainder >> (15 - bit)) & 1) << bit);
    return sent;
}

Bytes random_bytes(std::size_t count, unsigned seed) {
    std::mt19937 random(seed);
    Bytes bytes(count);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
    return bytes;
}

TEST(Icrc, OfTheSpecificationsLocalPacket) {
    Bytes wire(4);
    store_le32(wire, 0, icrc(LinkType::InfiniBandLocal, kSpecificationPacket));
    EXPECT_EQ(wire, (Bytes{0x96, 0x25, 0xB7, 0x5A}));
}

TEST(Icrc, PacketsWithoutAWholeBthHaveNone) {
    for (const LinkType link : kAllLinkTypes) {
        EXPECT_EQ(icrc(link, {}), 0u) << name_of(link);
        EXPECT_EQ(icrc(link, Bytes(10, 0x41)), 0u) << name_of(link);
    }
    EXPECT_EQ(icrc(LinkType::RoceV2Ipv4, Bytes(64, 0x40)), 0u) << "IHL 0";
}

TEST(Vcrc, TablesAgreeWithTheDefinitionAtEveryLength) {
    for (std::size_t length = 0; length < 70; ++length) {
        const Bytes bytes = random_bytes(length, static_cast<unsigned>(length));
        EXPECT_EQ(vcrc(bytes), vcrc_by_definition(bytes)) << length;
    }
    EXPECT_EQ(vcrc(kSpecificationPacket), vcrc_by_definition(kSpecificationPacket));
}

TEST(Vcrc, RemainderOverAPacketAndItsVcrcIsConstant) {
    Bytes a = random_bytes(64, 1);
    Bytes b = random_bytes(4163, 2);
    for (Bytes* bytes : {&a, &b}) {
        const std::uint16_t crc = vcrc(*bytes);
        bytes->resize(bytes->size() + 2);
        store_le16(*bytes, bytes->size() - 2, crc);
    }
    EXPECT_EQ(vcrc(a), vcrc(b));
}

TEST(Vcrc, EveryFlippedBitChangesIt) {
    const std::uint16_t good = vcrc(kSpecificationPacket);
    for (std::size_t bit = 0; bit < kSpecificationPacket.size() * 8; ++bit) {
        Bytes broken = kSpecificationPacket;
        broken[bit / 8] ^= static_cast<std::uint8_t>(1u << (bit % 8));
        EXPECT_NE(vcrc(broken), good) << bit;
    }
}

static_assert(vcrc({}) == 0, "constexpr, and the seed complemented");

/// Which bytes of a frame the ICRC does not cover, found by flipping every bit.
class IcrcMask : public testing::TestWithParam<LinkType> {};

/// Bits that may change between source and destination, by byte of the covered packet.
std::uint8_t masked_bits(LinkType link, std::size_t at) {
    std::size_t bth = 0;
    if (is_infiniband(link)) {
        if (at == 0) return 0xF0;
        bth = 8;
    }
    const bool ipv6_like = link != LinkType::RoceV2Ipv4 && link != LinkType::InfiniBandLocal;
    if (ipv6_like) {
        if (at == bth) return 0x0F;
        if (at > bth && at < bth + 4) return 0xFF;
        if (at == bth + 7) return 0xFF;
        bth += 40;
    }
    if (link == LinkType::RoceV2Ipv4) {
        if (at == 1 || at == 8 || at == 10 || at == 11) return 0xFF;
        bth += 20;
    }
    if (link == LinkType::RoceV2Ipv4 || link == LinkType::RoceV2Ipv6) {
        if (at == bth + 6 || at == bth + 7) return 0xFF;
        bth += 8;
    }
    return at == bth + 4 ? 0xFF : 0;
}

TEST_P(IcrcMask, CoversEveryBitButTheVariantOnes) {
    const LinkType link = GetParam();
    const Bytes payload = random_bytes(17, 3);
    FrameSpec spec;
    spec.link = link;
    spec.bth.opcode = 0x04;
    spec.payload = payload;
    Bytes frame(200);
    frame.resize(build_frame(spec, frame));
    const std::size_t from = is_ethernet(link) ? 14 : 0;
    const std::size_t behind = kIcrcBytes + (is_ethernet(link) ? 0 : kVcrcBytes);
    const Bytes packet(frame.begin() + static_cast<std::ptrdiff_t>(from),
                       frame.end() - static_cast<std::ptrdiff_t>(behind));
    const std::uint32_t good = icrc(link, packet);
    EXPECT_EQ(good, load_le32(frame, from + packet.size()));
    for (std::size_t bit = 0; bit < packet.size() * 8; ++bit) {
        Bytes changed = packet;
        const auto flip = static_cast<std::uint8_t>(1u << (bit % 8));
        changed[bit / 8] ^= flip;
        // LNH and IHL say how long the headers are: a change moves the BTH, so the result is merely different.
        const bool masked = (masked_bits(link, bit / 8) & flip) != 0;
        EXPECT_EQ(icrc(link, changed) == good, masked) << "bit " << bit % 8 << " of byte " << bit / 8;
    }
}

INSTANTIATE_TEST_SUITE_P(Link, IcrcMask, testing::ValuesIn(kAllLinkTypes));

}  // namespace
}  // namespace simverbs::wire
