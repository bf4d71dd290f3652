#include "verbs_shim/server/shared_objects.hpp"

#include <gtest/gtest.h>

#include "verbs_shim/server/lab_page.hpp"

namespace simverbs::server {
namespace {

using protocol::object_key;
using protocol::ObjectKind;

TEST(SharedObjects, ABumpMakesTheObjectAndItsStampNeverGoesBack) {
    LabPage page;
    const uint64_t key = object_key(ObjectKind::ChannelFd, 3);
    EXPECT_EQ(find_object(*page, key), nullptr);
    bump_object(*page, key, 500);
    bump_object(*page, key, 400, 2);
    const protocol::SharedObject* object = find_object(*page, key);
    ASSERT_NE(object, nullptr);
    EXPECT_EQ(object->value.load(), 3U);
    EXPECT_EQ(object->stamp_ps.load(), 500);
}

TEST(SharedObjects, WhoStreamsDoesNotHoldUpWhoeverWaitsForTheFirstOfIt) {
    LabPage page;
    const uint64_t key = object_key(ObjectKind::TcpStream, 4);
    for (int i = 1; i <= 10; ++i) bump_object(*page, key, 100 * i, 50);
    const protocol::SharedObject& object = *find_object(*page, key);
    EXPECT_EQ(changed_at(*page, object, 0), 100);
    EXPECT_EQ(changed_at(*page, object, 49), 100);
    EXPECT_EQ(changed_at(*page, object, 50), 200);
    EXPECT_EQ(changed_at(*page, object, 499), 1000);
    EXPECT_EQ(changed_at(*page, object, 500), 1000) << "nothing came since: its stamp";
    for (int i = 11; i <= 40; ++i) bump_object(*page, key, 100 * i, 50);
    EXPECT_EQ(changed_at(*page, object, 0), 100 * (40 - int{protocol::ObjectHistory::kChanges} + 1))
        << "the oldest one remembered";
}

TEST(SharedObjects, KeysOfDifferentKindsAreDifferentObjects) {
    LabPage page;
    bump_object(*page, object_key(ObjectKind::Process, 1), 10);
    EXPECT_EQ(find_object(*page, object_key(ObjectKind::HostBusy, 1)), nullptr);
}

TEST(SharedObjects, ADeadProcessEndsTheStreamsThatItHeldLastAndNoOthers) {
    LabPage page;
    const uint64_t his = object_key(ObjectKind::TcpStream, 1);
    const uint64_t other = object_key(ObjectKind::TcpStream, 2);
    make_object(*page, his)->last_process.store(7 + 1);
    make_object(*page, other)->last_process.store(8 + 1);
    end_objects_of(*page, 7, 900);
    EXPECT_EQ(find_object(*page, his)->value.load(), 1U);
    EXPECT_EQ(find_object(*page, his)->stamp_ps.load(), 900);
    EXPECT_EQ(find_object(*page, other)->value.load(), 0U);
}

}  // namespace
}  // namespace simverbs::server
