#include "verbs_shim/server/ibv_translate.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace simverbs::server {
namespace {

template <typename Enum>
void set_raw(Enum& e, uint32_t value) {
    static_assert(sizeof e == sizeof value);
    std::memcpy(&e, &value, sizeof e);
}

TEST(IbvTranslate, KnownEnumsKeepTheirNumbers) {
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_RTS;
    attr.path_mtu = IBV_MTU_1024;
    const hca::QpAttr to = qp_attr_from(attr);
    EXPECT_EQ(to.qp_state, hca::QpState::Rts);
    EXPECT_EQ(to.path_mtu, IBV_MTU_1024);
}

/// A message may hold any number: it must become one that the model's checks refuse, never wrap to a legal one.
TEST(IbvTranslate, EnumsBeyondTheirRangeBecomeNumbersThatNoCheckTakes) {
    for (const uint32_t number : {99U, 0x103U, 0x80000003U, 0xFFFFFFFFU}) {
        ibv_qp_attr attr{};
        set_raw(attr.qp_state, number);
        set_raw(attr.cur_qp_state, number);
        set_raw(attr.path_mtu, number);
        set_raw(attr.path_mig_state, number);
        const hca::QpAttr to = qp_attr_from(attr);
        const uint32_t expected = number == 99 ? 99 : 255;
        EXPECT_EQ(static_cast<uint32_t>(to.qp_state), expected);
        EXPECT_EQ(static_cast<uint32_t>(to.cur_qp_state), expected);
        EXPECT_EQ(to.path_mtu, expected);
        EXPECT_EQ(to.path_mig_state, expected);
    }
}

}  // namespace
}  // namespace simverbs::server
