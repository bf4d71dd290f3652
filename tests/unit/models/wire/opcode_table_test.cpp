#include <gtest/gtest.h>

#include <set>
#include <string>

#include "models/wire/opcode_table.hpp"

namespace simverbs::wire {
namespace {

const OpcodeInfo& row(Transport transport, BaseOpcode base) {
    const OpcodeInfo* info = find_opcode(make_opcode(transport, base));
    EXPECT_NE(info, nullptr);
    return *info;
}

TEST(OpcodeTable, FindsExactlyItsRows) {
    std::size_t found = 0;
    for (int opcode = 0; opcode < 256; ++opcode) {
        const OpcodeInfo* info = find_opcode(static_cast<std::uint8_t>(opcode));
        if (info == nullptr) continue;
        ++found;
        EXPECT_EQ(info->opcode, opcode);
    }
    EXPECT_EQ(found, kOpcodeTable.size());
}

TEST(OpcodeTable, NamesAreUniqueAndStartWithTheTransport) {
    std::set<std::string_view> names;
    for (const OpcodeInfo& info : kOpcodeTable) {
        EXPECT_TRUE(names.insert(info.name).second) << info.name;
        const std::string_view prefix = info.transport == Transport::Rc    ? "RC_"
                                        : info.transport == Transport::Uc  ? "UC_"
                                        : info.transport == Transport::Ud  ? "UD_"
                                        : info.transport == Transport::Xrc ? "XRC_"
                                                                           : "CNP";
        EXPECT_EQ(info.name.substr(0, prefix.size()), prefix);
    }
}

TEST(OpcodeTable, NamesSayWhatTheColumnsSay) {
    for (const OpcodeInfo& info : kOpcodeTable) {
        const std::string name(info.name);
        EXPECT_EQ(name.find("IMMEDIATE") != name.npos, info.has_imm_dt) << name;
        EXPECT_EQ(name.find("INVALIDATE") != name.npos, info.has_ieth) << name;
        if (name.find("_FIRST") != name.npos) {
            EXPECT_EQ(info.position, Position::First) << name;
        }
        if (name.find("_MIDDLE") != name.npos) {
            EXPECT_EQ(info.position, Position::Middle) << name;
        }
        if (name.find("_LAST") != name.npos) {
            EXPECT_EQ(info.position, Position::Last) << name;
        }
        if (name.find("_ONLY") != name.npos) {
            EXPECT_EQ(info.position, Position::Only) << name;
        }
    }
}

TEST(OpcodeTable, ReceiveWqesAreTakenAndCompletedOncePerMessage) {
    const auto& first = row(Transport::Rc, BaseOpcode::SendFirst);
    EXPECT_TRUE(first.consumes_receive_wqe);
    EXPECT_FALSE(first.completes_receive_wqe);
    const auto& last = row(Transport::Rc, BaseOpcode::SendLastInvalidate);
    EXPECT_FALSE(last.consumes_receive_wqe);
    EXPECT_TRUE(last.completes_receive_wqe);
    EXPECT_FALSE(row(Transport::Rc, BaseOpcode::WriteOnly).consumes_receive_wqe);
    EXPECT_TRUE(row(Transport::Uc, BaseOpcode::WriteLastImm).consumes_receive_wqe);
    EXPECT_TRUE(row(Transport::Uc, BaseOpcode::WriteLastImm).completes_receive_wqe);
    EXPECT_FALSE(row(Transport::Rc, BaseOpcode::ReadRequest).consumes_receive_wqe);
}

TEST(OpcodeTable, OnlyWhatStartsARemoteAccessHasARethAndOnlyResponsesHaveAnAeth) {
    for (const OpcodeInfo& info : kOpcodeTable) {
        EXPECT_EQ(info.has_aeth, info.is_response && info.position != Position::Middle) << info.name;
        EXPECT_FALSE(info.is_request && info.is_response) << info.name;
        if (info.has_reth) {
            EXPECT_TRUE(info.starts_message() && info.is_request) << info.name;
        }
    }
    EXPECT_FALSE(row(Transport::Rc, BaseOpcode::WriteLastImm).has_reth);
    EXPECT_TRUE(row(Transport::Rc, BaseOpcode::WriteOnlyImm).has_reth);
}

TEST(OpcodeTable, XrcRequestsAreFourBytesLongerThanRcAndResponsesAreNot) {
    for (const OpcodeInfo& info : kOpcodeTable) {
        if (info.transport != Transport::Rc) continue;
        const OpcodeInfo* xrc = find_opcode(static_cast<std::uint8_t>(info.opcode | 0xA0));
        ASSERT_NE(xrc, nullptr);
        EXPECT_EQ(xrc->header_bytes, info.header_bytes + (info.is_request ? 4 : 0)) << info.name;
    }
}

}  // namespace
}  // namespace simverbs::wire
