// All 49 pairs of states for every QP type: the minimal mask, each required attribute missing, each optional one added,
// each other one added. The table here was written from the kernel's qp_state_table on its own, not from the model's.
#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "models/hca/qp/qp_transition_check.hpp"

namespace simverbs::hca {
namespace {

const std::map<std::string, uint32_t> kAttributes = {
    {"CUR", kCurState},
    {"NOTIFY", kEnSqdAsyncNotify},
    {"ACCESS", kAccessFlags},
    {"PKEY", kPkeyIndex},
    {"PORT", kPort},
    {"QKEY", kQkey},
    {"AV", kAv},
    {"MTU", kPathMtu},
    {"TIMEOUT", kTimeout},
    {"RETRY", kRetryCnt},
    {"RNR_RETRY", kRnrRetry},
    {"RQ_PSN", kRqPsn},
    {"RD", kMaxQpRdAtomic},
    {"ALT", kAltPath},
    {"MIN_RNR", kMinRnrTimer},
    {"SQ_PSN", kSqPsn},
    {"DEST_RD", kMaxDestRdAtomic},
    {"MIG", kPathMigState},
    {"DEST_QPN", kDestQpn},
    {"RATE", kRateLimit},
};

uint32_t mask_of(const std::string& names) {
    std::stringstream in(names);
    uint32_t mask = 0;
    for (std::string name; in >> name;) mask |= kAttributes.at(name);
    return mask;
}

struct SpecRow {
    const char* from;
    const char* to;
    const char* types;  ///< UD RAW UC RC XI XT
    const char* required;
    const char* optional;
};
constexpr SpecRow kSpec[] = {
    {"RESET", "INIT", "UD", "PKEY PORT QKEY", ""},
    {"RESET", "INIT", "RAW", "PORT", ""},
    {"RESET", "INIT", "UC RC XI XT", "PKEY PORT ACCESS", ""},
    {"INIT", "INIT", "UD", "", "PKEY PORT QKEY"},
    {"INIT", "INIT", "RAW", "", ""},
    {"INIT", "INIT", "UC RC XI XT", "", "PKEY PORT ACCESS"},
    {"INIT", "RTR", "UD", "", "PKEY QKEY"},
    {"INIT", "RTR", "RAW", "", ""},
    {"INIT", "RTR", "UC XI", "AV MTU DEST_QPN RQ_PSN", "ALT ACCESS PKEY"},
    {"INIT", "RTR", "RC XT", "AV MTU DEST_QPN RQ_PSN DEST_RD MIN_RNR", "ALT ACCESS PKEY"},
    {"RTR", "RTS", "UD", "SQ_PSN", "CUR QKEY"},
    {"RTR", "RTS", "RAW", "", "RATE"},
    {"RTR", "RTS", "UC", "SQ_PSN", "CUR ALT ACCESS MIG"},
    {"RTR", "RTS", "RC", "TIMEOUT RETRY RNR_RETRY SQ_PSN RD", "CUR ALT ACCESS MIN_RNR MIG"},
    {"RTR", "RTS", "XI", "TIMEOUT RETRY RNR_RETRY SQ_PSN RD", "CUR ALT ACCESS MIG"},
    {"RTR", "RTS", "XT", "TIMEOUT SQ_PSN", "CUR ALT ACCESS MIN_RNR MIG"},
    {"RTS", "RTS", "UD", "", "CUR QKEY"},
    {"RTS", "RTS", "RAW", "", "RATE"},
    {"RTS", "RTS", "UC XI", "", "CUR ALT ACCESS MIG"},
    {"RTS", "RTS", "RC XT", "", "CUR ALT ACCESS MIN_RNR MIG"},
    {"RTS", "SQD", "UD UC RC XI XT", "", "NOTIFY"},
    {"RTS", "SQD", "RAW", "", ""},
    {"SQD", "RTS", "UD", "", "CUR QKEY"},
    {"SQD", "RTS", "RAW", "", ""},
    {"SQD", "RTS", "UC XI", "", "CUR ALT ACCESS MIG"},
    {"SQD", "RTS", "RC XT", "", "CUR ALT ACCESS MIN_RNR MIG"},
    {"SQD", "SQD", "UD", "", "PKEY QKEY"},
    {"SQD", "SQD", "RAW", "", ""},
    {"SQD", "SQD", "UC", "", "AV ALT ACCESS PKEY MIG"},
    {"SQD", "SQD", "RC", "", "PORT AV TIMEOUT RETRY RNR_RETRY RD DEST_RD ALT ACCESS PKEY MIN_RNR MIG"},
    {"SQD", "SQD", "XI", "", "PORT AV TIMEOUT RETRY RNR_RETRY RD ALT ACCESS PKEY MIG"},
    {"SQD", "SQD", "XT", "", "PORT AV TIMEOUT DEST_RD ALT ACCESS PKEY MIN_RNR MIG"},
    {"SQE", "RTS", "UD", "", "CUR QKEY"},
    {"SQE", "RTS", "RAW", "", ""},
    {"SQE", "RTS", "UC", "", "CUR ACCESS"},
};

struct Type {
    QpType type;
    std::string name;
};
const Type kTypes[] = {{QpType::Ud, "UD"}, {QpType::RawPacket, "RAW"}, {QpType::Uc, "UC"},
                       {QpType::Rc, "RC"}, {QpType::XrcSend, "XI"},    {QpType::XrcRecv, "XT"}};

/// What the written table says of a pair; null: no such transition.
struct Expected {
    bool valid = false;
    uint32_t required = 0, optional = 0;
};
Expected expected(const std::string& type, QpState from, QpState to) {
    if (to == QpState::Reset) return {true, 0, 0};
    if (to == QpState::Err) return {from != QpState::Reset, 0, 0};
    for (const SpecRow& row : kSpec) {
        std::stringstream types(row.types);
        for (std::string one; types >> one;) {
            if (one == type && row.from == std::string(name_of(from)) && row.to == std::string(name_of(to)))
                return {true, mask_of(row.required), mask_of(row.optional)};
        }
    }
    return {};
}

Rule verdict(QpType type, QpState from, QpState to, uint32_t mask) {
    QpAttr attr;
    attr.qp_state = to;
    attr.cur_qp_state = from;
    return check_transition(type, from, attr, kState | mask, LinkLayer::InfiniBand).rule;
}

std::string text(const Type& t, QpState from, QpState to, uint32_t bit) {
    return t.name + " " + name_of(from) + " -> " + name_of(to) + ", " + names_of_attr_mask(bit);
}

class EveryQpType : public testing::TestWithParam<Type> {};

TEST_P(EveryQpType, All49PairsTakeTheirMinimalMaskAndNothingElse) {
    const Type& t = GetParam();
    constexpr uint8_t kStates = 7;
    size_t valid = 0;
    for (uint8_t f = 0; f < kStates; ++f) {
        for (uint8_t g = 0; g < kStates; ++g) {
            const auto from = static_cast<QpState>(f), to = static_cast<QpState>(g);
            const Expected e = expected(t.name, from, to);
            const Rule minimal = verdict(t.type, from, to, e.required);
            EXPECT_EQ(minimal, e.valid ? Rule::None : Rule::NoSuchTransition) << text(t, from, to, 0);
            if (!e.valid) continue;
            ++valid;
            for (const auto& [name, bit] : kAttributes) {
                if ((e.required & bit) != 0) {
                    EXPECT_EQ(verdict(t.type, from, to, e.required & ~bit), Rule::AttributeMissing)
                        << text(t, from, to, bit);
                    continue;
                }
                const Rule added = verdict(t.type, from, to, e.required | bit);
                const Rule wanted = (e.optional & bit) != 0 ? Rule::None : Rule::AttributeNotAllowed;
                EXPECT_EQ(added, wanted) << text(t, from, to, bit);
            }
        }
    }
    const bool has_sqe = t.type == QpType::Ud || t.type == QpType::Uc || t.type == QpType::RawPacket;
    EXPECT_EQ(valid, has_sqe ? 22U : 21U);
}

INSTANTIATE_TEST_SUITE_P(QpTransitions, EveryQpType, testing::ValuesIn(kTypes),
                         [](const auto& of) { return of.param.name; });

TEST(QpTransitions, AnEndOfXrcIgnoresWhatOnlyTheOtherEndHas) {
    constexpr uint32_t kInitiators = kMaxQpRdAtomic | kRetryCnt | kRnrRetry, kTargets = kMaxDestRdAtomic | kMinRnrTimer;
    EXPECT_EQ(mask_of_type(QpType::XrcSend, kState | kInitiators | kTargets), kState | kInitiators);
    EXPECT_EQ(mask_of_type(QpType::XrcRecv, kState | kInitiators | kTargets), kState | kTargets);
    EXPECT_EQ(mask_of_type(QpType::Rc, kState | kInitiators | kTargets), kState | kInitiators | kTargets);
}

}  // namespace
}  // namespace simverbs::hca
