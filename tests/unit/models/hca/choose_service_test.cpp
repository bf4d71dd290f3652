// SL, traffic class and the port's own priority: which of them a packet's service comes from, cell by cell.
#include "models/hca/ah/choose_service.hpp"

#include <gtest/gtest.h>

namespace simverbs::hca {
namespace {

struct Row {
    const char* what;
    bool tagged;
    GidType type;
    uint8_t sl, traffic_class, service, on_the_wire;
};

/// The port's own priority is 2, DSCP 26 is service 9.
constexpr Row kRows[] = {
    {"nothing asked", false, GidType::RoceV2, 0, 0, 2, 16 << 2},
    {"an SL is the priority, and its class selector on the wire", false, GidType::RoceV2, 3, 0, 3, 24 << 2},
    {"a DSCP by the port's table", false, GidType::RoceV2, 0, 26 << 2 | 2, 9, 26 << 2 | 2},
    {"a DSCP without an entry of its own", false, GidType::RoceV2, 0, 46 << 2, 5, 46 << 2},
    {"of both, the DSCP is on the wire", false, GidType::RoceV2, 3, 26 << 2, 9, 26 << 2},
    {"ECN bits are no DSCP", false, GidType::RoceV2, 3, 1, 3, 24 << 2},
    {"SLs have three bits here", false, GidType::RoceV2, 11, 0, 3, 24 << 2},
    {"a tag: nothing asked", true, GidType::RoceV2, 0, 0, 2, 0},
    {"a tag: the SL", true, GidType::RoceV2, 3, 0, 3, 0},
    {"a tag: the DSCP where there is no SL", true, GidType::RoceV2, 0, 26 << 2, 9, 26 << 2},
    {"a tag: the SL before the DSCP, which stays", true, GidType::RoceV2, 3, 26 << 2, 3, 26 << 2},
    {"RoCE v1 has no DSCP", false, GidType::RoceV1, 0, 26 << 2, 2, 26 << 2},
    {"RoCE v1: the SL", false, GidType::RoceV1, 3, 26 << 2, 3, 26 << 2},
};

TEST(ChooseService, UntaggedGoesByDscpAndTaggedBySlAndWhatAsksForNeitherByThePort) {
    for (const Row& row : kRows) {
        HcaPortConfig port;
        port.priority = 2;
        port.service_of_dscp[26] = 9;
        if (row.tagged) port.vlan = 7;
        const ChosenService chosen = choose_service(port, row.sl, row.traffic_class, row.type);
        EXPECT_EQ(chosen.number, row.service) << row.what;
        EXPECT_EQ(chosen.traffic_class, row.on_the_wire) << row.what;
    }
}

}  // namespace
}  // namespace simverbs::hca
