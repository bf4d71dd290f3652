// What a program's address means on a simulated host, and what the kernel gets in its place.
#include "verbs_shim/client/net/address.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace simverbs::client::net {
namespace {

constexpr uint32_t kBlock = 21;

sockaddr_storage storage_of(const char* text, uint16_t port, socklen_t& length) {
    sockaddr_storage out{};
    sockaddr_in v4{};
    sockaddr_in6 v6{};
    if (inet_pton(AF_INET, text, &v4.sin_addr) == 1) {
        v4.sin_family = AF_INET;
        v4.sin_port = htons(port);
        std::memcpy(&out, &v4, sizeof v4);
        length = sizeof v4;
    } else {
        EXPECT_EQ(inet_pton(AF_INET6, text, &v6.sin6_addr), 1) << text;
        v6.sin6_family = AF_INET6;
        v6.sin6_port = htons(port);
        std::memcpy(&out, &v6, sizeof v6);
        length = sizeof v6;
    }
    return out;
}

AddressKind kind_of(const char* text) {
    socklen_t length = 0;
    const sockaddr_storage a = storage_of(text, 1, length);
    return meaning_of(reinterpret_cast<const sockaddr*>(&a), length).kind;
}

std::string text_of(const sockaddr_storage& a) {
    char text[INET6_ADDRSTRLEN] = "";
    if (a.ss_family == AF_INET)
        inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(a).sin_addr, text, sizeof text);
    if (a.ss_family == AF_INET6)
        inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6&>(a).sin6_addr, text, sizeof text);
    return text;
}

TEST(Address, LabAddressesAreTenZeroAndTheirIpv6Forms) {
    EXPECT_EQ(kind_of("10.0.0.1"), AddressKind::Lab);
    EXPECT_EQ(kind_of("10.0.15.255"), AddressKind::Lab);
    EXPECT_EQ(kind_of("::ffff:10.0.0.2"), AddressKind::Lab);
    EXPECT_EQ(kind_of("fd00::a00:2"), AddressKind::Lab);
    EXPECT_EQ(kind_of("10.0.0.0"), AddressKind::Outside);
    EXPECT_EQ(kind_of("10.1.0.1"), AddressKind::Outside);
    EXPECT_EQ(kind_of("192.168.0.1"), AddressKind::Outside);
    EXPECT_EQ(kind_of("2001:db8::1"), AddressKind::Outside);
}

TEST(Address, AnyAndLoopbackMeanTheHostItself) {
    EXPECT_EQ(kind_of("0.0.0.0"), AddressKind::Any);
    EXPECT_EQ(kind_of("::"), AddressKind::Any);
    EXPECT_EQ(kind_of("127.0.0.1"), AddressKind::Loopback);
    EXPECT_EQ(kind_of("::1"), AddressKind::Loopback);
}

TEST(Address, ATooShortOrForeignSockaddrMeansNothing) {
    socklen_t length = 0;
    const sockaddr_storage a = storage_of("10.0.0.1", 1, length);
    EXPECT_EQ(meaning_of(reinterpret_cast<const sockaddr*>(&a), sizeof(sockaddr_in) - 1).kind, AddressKind::NotIp);
    EXPECT_EQ(meaning_of(nullptr, 0).kind, AddressKind::NotIp);
    sockaddr_storage unix_one{};
    unix_one.ss_family = AF_UNIX;
    EXPECT_EQ(meaning_of(reinterpret_cast<const sockaddr*>(&unix_one), sizeof unix_one).kind, AddressKind::NotIp);
}

TEST(Address, TheKernelGetsTheLabsBlockAndTheProgramItsOwnAddressBack) {
    for (const bool v6 : {false, true}) {
        sockaddr_storage under{};
        socklen_t length = 0;
        put_under({0x0A000102, 4791}, v6, kBlock, under, length);
        EXPECT_EQ(text_of(under), v6 ? "::ffff:127.21.1.2" : "127.21.1.2");
        const auto back = lab_endpoint_of_under(reinterpret_cast<const sockaddr*>(&under), length, kBlock);
        ASSERT_TRUE(back.has_value());
        EXPECT_EQ(back->address, 0x0A000102U);
        EXPECT_EQ(back->port, 4791);
        to_program(reinterpret_cast<sockaddr*>(&under), length, kBlock);
        EXPECT_EQ(text_of(under), v6 ? "::ffff:10.0.1.2" : "10.0.1.2");
    }
}

TEST(Address, AnotherLabsBlockIsLeftAlone) {
    sockaddr_storage under{};
    socklen_t length = 0;
    put_under({0x0A000001, 80}, false, kBlock, under, length);
    EXPECT_FALSE(lab_endpoint_of_under(reinterpret_cast<const sockaddr*>(&under), length, kBlock + 1).has_value());
    to_program(reinterpret_cast<sockaddr*>(&under), length, kBlock + 1);
    EXPECT_EQ(text_of(under), "127.21.0.1");
}

}  // namespace
}  // namespace simverbs::client::net
