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

}  // namespace
}  // namespace simverbs::hca
