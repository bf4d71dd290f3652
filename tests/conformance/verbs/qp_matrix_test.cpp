// The QP state table against what Linux answers to ibv_modify_qp: every pair of states, the minimal mask, one attribute
// missing, one too many. The table qp_matrix.csv was measured on a kernel 6.1 with Soft-RoCE.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "models/hca/qp/qp_transition_check.hpp"

namespace simverbs::hca {
namespace {

std::vector<std::string> fields_of(const std::string& line) {
    std::vector<std::string> out;
    std::stringstream in(line);
    for (std::string field; std::getline(in, field, ',');) out.push_back(field);
    return out;
}

QpState state_of(const std::string& name) {
    for (uint8_t s = 0; s <= static_cast<uint8_t>(QpState::Err); ++s)
        if (name == name_of(static_cast<QpState>(s))) return static_cast<QpState>(s);
    ADD_FAILURE() << name;
    return QpState::Reset;
}

TEST(QpMatrix, EveryTransitionIsAcceptedOrRefusedAsByTheKernel) {
    std::ifstream in(QP_MATRIX);
    ASSERT_TRUE(in) << QP_MATRIX;
    std::string line;
    std::getline(in, line);
    size_t checked = 0;
    while (std::getline(in, line)) {
        const auto f = fields_of(line);
        // Values of attributes are the business of check_ranges, and rows without a result could not be measured.
        if (f.size() < 7 || f[6].empty() || f[4].starts_with("value:")) continue;
        const auto mask = static_cast<uint32_t>(std::stoul(f[5], nullptr, 16));
        if ((mask >> 30) != 0) continue;
        // The kernel's table allows it (RC has the same row, accepted); Soft-RoCE refuses the address vector
        // afterwards.
        if (line.starts_with("rxe,UC,SQD,SQD,extra:AV,")) continue;
        QpAttr attr;
        attr.cur_qp_state = state_of(f[2]);
        attr.qp_state = state_of(f[3]);
        const QpType type = f[1] == "RC" ? QpType::Rc : QpType::Uc;
        const auto verdict = check_transition(type, state_of(f[2]), attr, mask, LinkLayer::Ethernet);
        EXPECT_EQ(verdict.rule == Rule::None, f[6] == "0") << line << " but " << name_of(verdict.rule);
        ++checked;
    }
    EXPECT_GT(checked, 850U);
}

/// Rows whose value check_ranges judges. Addresses are the business of resolve_path, states of check_transition.
struct ValueRow {
    const char* name;
    void (*set)(QpAttr&);
};
constexpr ValueRow kValueRows[] = {
    {"port 0", [](QpAttr& a) { a.port_num = 0; }},
    {"port 2", [](QpAttr& a) { a.port_num = 2; }},
    {"pkey_index 1000", [](QpAttr& a) { a.pkey_index = 1000; }},
    {"pkey_index 64", [](QpAttr& a) { a.pkey_index = 64; }},
    {"access bit 9", [](QpAttr& a) { a.qp_access_flags = 1U << 9; }},
    {"path_mtu 0", [](QpAttr& a) { a.path_mtu = 0; }},
    {"path_mtu 6", [](QpAttr& a) { a.path_mtu = 6; }},
    {"path_mtu 4096 > active 1024", [](QpAttr& a) { a.path_mtu = 5; }},
    {"rq_psn 25 bits", [](QpAttr& a) { a.rq_psn = 1U << 24; }},
    {"dest_qp 25 bits", [](QpAttr& a) { a.dest_qp_num = 1U << 24; }},
    {"sq_psn 25 bits", [](QpAttr& a) { a.sq_psn = 1U << 24; }},
    {"min_rnr 32", [](QpAttr& a) { a.min_rnr_timer = 32; }},
    {"max_dest_rd_atomic 255", [](QpAttr& a) { a.max_dest_rd_atomic = 255; }},
    {"max_dest_rd_atomic 129", [](QpAttr& a) { a.max_dest_rd_atomic = 129; }},
    {"retry_cnt 8", [](QpAttr& a) { a.retry_cnt = 8; }},
    {"rnr_retry 8", [](QpAttr& a) { a.rnr_retry = 8; }},
    {"timeout 32", [](QpAttr& a) { a.timeout = 32; }},
    {"max_rd_atomic 255", [](QpAttr& a) { a.max_rd_atomic = 255; }},
    {"max_rd_atomic 129", [](QpAttr& a) { a.max_rd_atomic = 129; }},
};

TEST(QpMatrix, TheProfileRxeTakesTheValuesThatSoftRoceTakes) {
    std::ifstream in(QP_MATRIX);
    ASSERT_TRUE(in) << QP_MATRIX;
    QpAttrLimits limits;
    limits.port_active_mtu = 3;
    limits.max_rd_atomic = limits.max_dest_rd_atomic = 128;
    limits.all_checked = false;
    std::string line;
    size_t checked = 0;
    while (std::getline(in, line)) {
        const auto f = fields_of(line);
        if (f.size() < 7 || !f[4].starts_with("value:")) continue;
        for (const ValueRow& row : kValueRows) {
            if (f[4].substr(6) != row.name) continue;
            QpAttr attr;
            attr.port_num = 1;
            attr.path_mtu = 3;
            row.set(attr);
            const auto verdict = check_ranges(attr, static_cast<uint32_t>(std::stoul(f[5], nullptr, 16)), limits);
            EXPECT_EQ(verdict.attribute == 0, f[6] == "0") << line;
            ++checked;
        }
    }
    EXPECT_GT(checked, 25U);
}

}  // namespace
}  // namespace simverbs::hca
