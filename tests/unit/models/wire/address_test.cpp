#include <gtest/gtest.h>

#include "models/wire/gid.hpp"
#include "models/wire/mac_address.hpp"

namespace simverbs::wire {
namespace {

constexpr MacAddress kMac{{0x02, 0x00, 0x00, 0x12, 0x34, 0x56}};

TEST(MacAddress, TextRoundTrips) {
    EXPECT_EQ(to_string(kMac), "02:00:00:12:34:56");
    EXPECT_EQ(parse_mac("02:00:00:12:34:56"), kMac);
    EXPECT_EQ(parse_mac("02-00-00-12-34-56"), kMac);
}

TEST(MacAddress, WrongTextIsRefused) {
    for (const char* text : {"", "02:00:00:12:34", "02:00:00:12:34:5g", "02:00:00:12:34:567", "2:0:0:12:34:56:78:9",
                             "02.00.00.12.34.56", "02:00:00:12:34:-1", "0 :00:00:12:34:56"}) {
        EXPECT_FALSE(parse_mac(text)) << text;
    }
}

TEST(MacAddress, KnowsMulticast) {
    EXPECT_FALSE(kMac.is_multicast());
    EXPECT_TRUE(kBroadcastMac.is_multicast());
    EXPECT_TRUE(kMacControlMulticast.is_multicast());
    EXPECT_EQ(to_string(mac_of_ipv4_multicast(0xEF818283)), "01:00:5e:01:82:83");
    EXPECT_EQ(to_string(mac_of_ipv6_multicast(parse_gid("ff12::1:2:3:abcd")->bytes)), "33:33:00:03:ab:cd");
}

TEST(Gid, LinkLocalHoldsTheEui64OfTheMac) {
    const Gid gid = link_local_gid(kMac);
    EXPECT_EQ(to_string(gid), "fe80:0000:0000:0000:0000:00ff:fe12:3456");
    EXPECT_TRUE(gid.is_link_local());
    EXPECT_FALSE(gid.is_ipv4_mapped());
    EXPECT_EQ(gid.interface_id(), eui64_from_mac(kMac));
}

TEST(Gid, HoldsIpv4Addresses) {
    const Gid gid = gid_from_ipv4(0x0A000102);
    EXPECT_EQ(to_string(gid), "0000:0000:0000:0000:0000:ffff:0a00:0102");
    EXPECT_TRUE(gid.is_ipv4_mapped());
    EXPECT_EQ(gid.ipv4(), 0x0A000102u);
    EXPECT_FALSE(gid.is_multicast());
    EXPECT_TRUE(gid_from_ipv4(0xE0000001).is_multicast());
}

TEST(Gid, TextIsReadInEveryForm) {
    EXPECT_EQ(parse_gid("10.0.1.2"), gid_from_ipv4(0x0A000102));
    EXPECT_EQ(parse_gid("::ffff:10.0.1.2"), gid_from_ipv4(0x0A000102));
    EXPECT_EQ(parse_gid(to_string(link_local_gid(kMac))), link_local_gid(kMac));
    EXPECT_TRUE(parse_gid("ff02::1")->is_multicast());
    EXPECT_TRUE(parse_gid("::")->is_zero());
    for (const char* text : {"", "10.0.1", "fe80::1::2", "fe80::12345", "host"}) EXPECT_FALSE(parse_gid(text)) << text;
}

TEST(Gid, ConsistsOfPrefixAndGuid) {
    const Gid gid = Gid::from_prefix_and_guid(Gid::kLinkLocalPrefix, 0x0002C90300001234);
    EXPECT_EQ(gid.subnet_prefix(), 0xFE80000000000000u);
    EXPECT_EQ(gid.interface_id(), 0x0002C90300001234u);
}

}  // namespace
}  // namespace simverbs::wire
