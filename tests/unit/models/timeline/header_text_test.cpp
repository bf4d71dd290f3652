#include "models/timeline/header_text.hpp"

#include <gtest/gtest.h>

#include <array>

#include "models/cm/messages.hpp"

namespace simverbs::timeline {
namespace {

using Lines = std::vector<std::string>;

Lines lines_of(uint8_t opcode, const wire::PacketExtra& x, uint8_t syndrome = 0, uint32_t msn = 0) {
    wire::Packet p;
    p.opcode = opcode;
    p.aeth_syndrome = syndrome;
    p.aeth_msn = msn & 0xFFFFFF;
    return header_lines(p, x);
}

TEST(HeaderText, SyndromesAreSaidInTheWordsOfTheStandard) {
    EXPECT_EQ(syndrome_text(0x1F), "ACK, credits not limited");
    EXPECT_EQ(syndrome_text(0x01), "ACK, credits for 1 message");
    EXPECT_EQ(syndrome_text(0x05), "ACK, credits for 6 messages");
    EXPECT_EQ(syndrome_text(0x20 | 14), "RNR NAK, wait 1.28 ms");
    EXPECT_EQ(syndrome_text(0x20), "RNR NAK, wait 655.36 ms");
    EXPECT_EQ(syndrome_text(0x60), "NAK, PSN sequence error");
    EXPECT_EQ(syndrome_text(0x61), "NAK, invalid request");
    EXPECT_EQ(syndrome_text(0x62), "NAK, remote access error");
    EXPECT_EQ(syndrome_text(0x63), "NAK, remote operational error");
    EXPECT_EQ(syndrome_text(0x40), "reserved syndrome 0x40");
}

TEST(HeaderText, EachOpcodeHasTheHeadersThatItHasOnTheWire) {
    wire::PacketExtra x;
    x.vaddr = 0x1000;
    x.rkey = 0x42;
    x.dma_length = 65536;
    x.imm_or_inv_rkey = 0x78563412;
    x.qkey = 0x11111111;
    x.src_qp = 0x18f3;
    x.swap_or_add = 7;
    x.compare = 9;
    x.xrc_srq = 5;
    EXPECT_EQ(lines_of(0x04, x), Lines{}) << "a SEND has nothing behind its BTH, though the record has values";
    EXPECT_EQ(lines_of(0x05, x), Lines{"ImmDt  0x12345678"});
    EXPECT_EQ(lines_of(0x0A, x), Lines{"RETH  VA 0x1000, R_Key 0x00000042, DMA length 65536"});
    EXPECT_EQ(lines_of(0x11, x, 0x60, 7), Lines{"AETH  NAK, PSN sequence error, MSN 7"});
    EXPECT_EQ(lines_of(0x13, x), Lines{"AtomicETH  VA 0x1000, R_Key 0x00000042, swap 0x7, compare 0x9"});
    EXPECT_EQ(lines_of(0x14, x), Lines{"AtomicETH  VA 0x1000, R_Key 0x00000042, add 0x7"});
    EXPECT_EQ(lines_of(0x12, x, 0x1F, 3),
              (Lines{"AETH  ACK, credits not limited, MSN 3", "AtomicAckETH  original data 0x9"}));
    EXPECT_EQ(lines_of(0x17, x), Lines{"IETH  R_Key 0x78563412"});
    EXPECT_EQ(lines_of(0x64, x), Lines{"DETH  Q_Key 0x11111111, source QP 0x0018f3"});
    EXPECT_EQ(lines_of(0xA4, x), Lines{"XRCETH  SRQ 0x000005"});
}

template <class Message>
MadText mad_of(const Message& m) {
    std::array<uint8_t, cm::kMadBytes> bytes{};
    cm::MadHeader header;
    header.mgmt_class = cm::kCmClass;
    header.attribute_id = static_cast<uint16_t>(Message::attribute);
    cm::encode(header, bytes);
    cm::encode(m, cm::cm_part(std::span<uint8_t>(bytes)));
    return mad_text(bytes);
}

TEST(HeaderText, MessagesOfCommunicationManagementHaveTheirNames) {
    cm::Req req;
    req.local_comm_id = 0x11;
    req.local_qpn = 0x18f3;
    req.starting_psn = 4711;
    const MadText told = mad_of(req);
    EXPECT_EQ(told.name, "CM REQ");
    ASSERT_EQ(told.lines.size(), 3U);
    EXPECT_NE(told.lines[1].find("local QPN 0x0018f3, starting PSN 4711"), std::string::npos) << told.lines[1];
    cm::Rej rej;
    rej.answered = cm::Answered::Rep;
    EXPECT_EQ(mad_of(rej).name, "CM REJ");
    EXPECT_NE(mad_of(rej).lines[1].find("of REP, reason 28"), std::string::npos);
    EXPECT_EQ(mad_of(cm::Rep{}).name, "CM REP");
    EXPECT_EQ(mad_of(cm::Rtu{}).name, "CM RTU");
    EXPECT_EQ(mad_of(cm::Mra{}).name, "CM MRA");
    EXPECT_EQ(mad_of(cm::Dreq{}).name, "CM DREQ");
    EXPECT_EQ(mad_of(cm::Drep{}).name, "CM DREP");
    EXPECT_EQ(mad_of(cm::SidrReq{}).name, "CM SIDR_REQ");
    EXPECT_EQ(mad_of(cm::SidrRep{}).name, "CM SIDR_REP");
    const std::array<uint8_t, cm::kMadBytes> other{1, 3};
    EXPECT_EQ(mad_text(other).name, "MAD of class 0x03");
}

}  // namespace
}  // namespace simverbs::timeline
