// The tables against messages that Linux sent (Soft-RoCE, rping), byte by byte.
#include <gtest/gtest.h>

#include <string_view>

#include "models/cm/ip_cm_header.hpp"
#include "models/cm/messages.hpp"
#include "models/cm/timing.hpp"

namespace simverbs::cm {
namespace {

/// Hexadecimal digits; what is missing at the end is zeros.
MadBytes mad_of(std::string_view hex) {
    MadBytes out{};
    const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
    for (size_t i = 0; i + 1 < hex.size(); i += 2)
        out[i / 2] = static_cast<uint8_t>(digit(hex[i]) * 16 + digit(hex[i + 1]));
    return out;
}

constexpr std::string_view kReq =
    "0107020300000000000000043532cbeb0010000000000000ebcb3235000000000000000001061c06000000fffe0000020000"
    "00000000000000001b0100000001000000a074e5e8a7ffff37f0ffffffff00000000000000000000ffff0a00000200000000"
    "000000000000ffff0a000001a94ea00000400098000000000000000000000000000000000000000000000000000000000000"
    "00000000000000000000000000000040da9c0000000000000000000000000a0000020000000000000000000000000a000001";
constexpr std::string_view kRep =
    "0107020300000000000000043532cbeb0013000000000000eacb3235ebcb32350000000000001b000000000009107b000101"
    "78e0000000fffe000001";
constexpr std::string_view kDreq = "0107020300000000000000043532cbeb0015000000000000ebcb3235eacb323500001b";

template <class Message>
Message body_of(const MadBytes& mad) {
    return decode<Message>(cm_part(std::span<const uint8_t>(mad)));
}

/// Written again with its own header, a message of Linux must be the same bytes.
template <class Message>
MadBytes again(const MadBytes& mad) {
    MadBytes out{};
    encode(decode<MadHeader>(std::span<const uint8_t>(mad)), std::span<uint8_t>(out));
    encode(body_of<Message>(mad), cm_part(std::span<uint8_t>(out)));
    return out;
}

TEST(CmMessages, AReqOfLinuxIsReadFieldByField) {
    const MadBytes mad = mad_of(kReq);
    const auto header = decode<MadHeader>(std::span<const uint8_t>(mad));
    EXPECT_EQ(header.mgmt_class, kCmClass);
    EXPECT_EQ(header.class_version, kCmClassVersion);
    EXPECT_EQ(header.method, kMethodSend);
    EXPECT_EQ(header.attribute_id, static_cast<uint16_t>(Attribute::Req));
    EXPECT_EQ(header.transaction_id, 0x000000043532cbebULL);
    const auto req = body_of<Req>(mad);
    EXPECT_EQ(req.local_comm_id, 0xebcb3235U);
    EXPECT_EQ(req.service_id, ip_service_id(PortSpace::Tcp, 7174));
    EXPECT_EQ(req.local_ca_guid, 0x000000fffe000002ULL);
    EXPECT_EQ(req.local_qpn, 0x1bU);
    EXPECT_EQ(req.responder_resources, 1);
    EXPECT_EQ(req.initiator_depth, 1);
    EXPECT_EQ(req.remote_response_timeout, kResponseTimeout);
    EXPECT_EQ(req.local_response_timeout, kResponseTimeout);
    EXPECT_EQ(req.transport, Transport::Rc);
    EXPECT_EQ(req.starting_psn, 0x74e5e8U);
    EXPECT_EQ(req.retry_count, 7);
    EXPECT_EQ(req.rnr_retry_count, 7);
    EXPECT_EQ(req.path_mtu, 3);
    EXPECT_EQ(req.max_cm_retries, kMaxCmRetries);
    EXPECT_FALSE(req.srq);
    EXPECT_EQ(req.local_lid, 0xFFFF);
    EXPECT_EQ(req.flow_label, 0xa94eaU);
    EXPECT_EQ(req.packet_rate, 0);  // tshark 4.0 reads the flow label here
    EXPECT_EQ(req.hop_limit, 64);
    EXPECT_EQ(req.local_ack_timeout, 19);
    const auto addresses = decode<IpCmHeader>(std::span<const uint8_t>(req.private_data));
    EXPECT_EQ(addresses.ip_version, 4);
    EXPECT_EQ(addresses.source_port, 55964);
    EXPECT_EQ(addresses.source[15], 2);
    EXPECT_EQ(addresses.destination[15], 1);
}

TEST(CmMessages, ARepOfLinuxIsReadFieldByField) {
    const auto rep = body_of<Rep>(mad_of(kRep));
    EXPECT_EQ(rep.local_comm_id, 0xeacb3235U);
    EXPECT_EQ(rep.remote_comm_id, 0xebcb3235U);
    EXPECT_EQ(rep.local_qpn, 0x1bU);
    EXPECT_EQ(rep.starting_psn, 0x09107bU);
    EXPECT_EQ(rep.responder_resources, 1);
    EXPECT_EQ(rep.initiator_depth, 1);
    EXPECT_EQ(rep.target_ack_delay, 15);
    EXPECT_EQ(rep.rnr_retry_count, 7);
    EXPECT_EQ(rep.local_ca_guid, 0x000000fffe000001ULL);
}

TEST(CmMessages, WhatLinuxSentIsWrittenAgainAsTheSameBytes) {
    EXPECT_EQ(again<Req>(mad_of(kReq)), mad_of(kReq));
    EXPECT_EQ(again<Rep>(mad_of(kRep)), mad_of(kRep));
    EXPECT_EQ(again<Dreq>(mad_of(kDreq)), mad_of(kDreq));
}

TEST(CmMessages, ALengthOfSevenBitsLeavesWhatIsBesideItAlone) {
    Rej rej;
    rej.info_length = 0x7F;
    MadBytes mad{};
    encode(rej, cm_part(std::span<uint8_t>(mad)));
    const auto back = body_of<Rej>(mad);
    EXPECT_EQ(back.info_length, 0x7F);
    EXPECT_EQ(back.answered, Answered::Req);
    EXPECT_EQ(back.reason, RejectReason::ConsumerDefined);
    EXPECT_EQ(mad[MadHeader::size + 9], 0xFE);
}

TEST(CmMessages, TheVendorIdOfEceFillsReservedBytes_InARepOneByOne) {
    Req req;
    req.vendor_id = 0x123456;
    Rep rep;
    rep.set_vendor_id(0x123456);
    MadBytes mad{}, reply{};
    encode(req, cm_part(std::span<uint8_t>(mad)));
    encode(rep, cm_part(std::span<uint8_t>(reply)));
    EXPECT_EQ(mad[MadHeader::size + 5], 0x12);
    EXPECT_EQ(mad[MadHeader::size + 7], 0x56);
    EXPECT_EQ(reply[MadHeader::size + 15], 0x12);
    EXPECT_EQ(reply[MadHeader::size + 19], 0x34);
    EXPECT_EQ(reply[MadHeader::size + 23], 0x56);
    EXPECT_EQ(body_of<Req>(mad).vendor_id, 0x123456U);
    EXPECT_EQ(body_of<Rep>(reply).vendor_id(), 0x123456U);
}

TEST(CmTiming, AckTimeoutsAreThoseOfLinux) {
    EXPECT_EQ(ack_timeout(15, 18), 19);
    EXPECT_EQ(ack_timeout(16, 18), 19);
    EXPECT_EQ(ack_timeout(18, 18), 20);
    EXPECT_EQ(time_of(20), sim::SimTime::ms(4096));
    EXPECT_EQ(time_of(0), sim::SimTime::ms(1));
}

}  // namespace
}  // namespace simverbs::cm
