// Children of fork, servers that die, libraries that do not fit.
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <string>

#include "tests/unit/verbs_shim/verbs/fixture.hpp"

namespace simverbs::test {
namespace {

/// Runs `body` in a child; its return value is the exit status.
template <typename F>
int in_child(F body) {
    const pid_t pid = fork();
    if (pid == 0) _exit(body());
    int status = -1;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

TEST_F(VerbsTest, AContextInheritedThroughForkIsDeadAndTheChildCanOpenItsOwn) {
    ibv_qp* const qp = make_qp(IBV_QPS_RTS);
    const ServerRing sq = server().sq(qp->qp_num);
    const int status = in_child([&] {
        ibv_send_wr wr{}, *bad = nullptr;
        wr.opcode = IBV_WR_SEND;
        ibv_wc wc;
        if (ibv_post_send(qp, &wr, &bad) != EIO) return 1;  // before the child has a lab of its own
        if (ibv_poll_cq(cq, 1, &wc) >= 0) return 2;
        if (!client::connection::hello(client::connection::kSlotFromEnvironment)) return 3;
        if (ibv_post_send(qp, &wr, &bad) != EIO) return 4;  // and afterwards
        if (ibv_poll_cq(cq, 1, &wc) >= 0) return 5;
        if (ibv_dealloc_pd(pd) != EIO) return 6;
        if (ibv_alloc_pd(context) != nullptr || errno != EIO) return 7;
        ibv_async_event event;
        if (ibv_get_async_event(context, &event) != -1 || errno != EIO) return 8;
        ibv_device** const list = ibv_get_device_list(nullptr);
        ibv_context* const own = ibv_open_device(list[0]);
        if (own == nullptr) return 9;
        ibv_pd* const own_pd = ibv_alloc_pd(own);
        if (own_pd == nullptr) return 10;
        return ibv_dealloc_pd(own_pd) == 0 && ibv_close_device(own) == 0 ? 0 : 11;
    });
    EXPECT_EQ(status, 0);
    EXPECT_EQ(sq.header->produced.load(), 0U) << "the child touched its parent's ring";
    ibv_send_wr wr{}, *bad = nullptr;
    wr.opcode = IBV_WR_SEND;
    EXPECT_EQ(ibv_post_send(qp, &wr, &bad), 0) << "the parent goes on";
}

/// What a program sees whose server is killed: run in a child, which joins a lab of its own.
int lose_the_server() {
    FakeServer mine;
    setenv(protocol::kEnvSocket, mine.path().c_str(), 1);
    if (!client::connection::hello()) return 1;
    ibv_device** const list = ibv_get_device_list(nullptr);
    ibv_context* const context = ibv_open_device(list[0]);
    ibv_pd* const pd = ibv_alloc_pd(context);
    ibv_cq* const cq = ibv_create_cq(context, 4, nullptr, nullptr, 0);
    if (cq == nullptr) return 2;
    ibv_wc wc;
    if (ibv_poll_cq(cq, 1, &wc) != 0) return 3;
    mine.die();
    const auto start = std::chrono::steady_clock::now();
    int polled = 0;
    while ((polled = ibv_poll_cq(cq, 1, &wc)) == 0) {  // a program that only polls must notice, too
        if (std::chrono::steady_clock::now() - start > std::chrono::seconds(10)) return 4;
    }
    if (polled >= 0) return 5;
    ibv_async_event event;
    if (ibv_get_async_event(context, &event) != 0 || event.event_type != IBV_EVENT_DEVICE_FATAL) return 6;
    ibv_ack_async_event(&event);
    if (ibv_get_async_event(context, &event) != -1 || errno != EIO) return 7;
    if (ibv_alloc_pd(context) != nullptr || errno != EIO) return 8;
    if (ibv_dealloc_pd(pd) != EIO) return 9;
    return ibv_close_device(context) == 0 ? 0 : 10;
}

TEST(Server, ItsDeathIsADeviceFatalEventAndErrorsNeverAHang) {
    EXPECT_EQ(in_child(lose_the_server), 0);
}

TEST(Hello, ALibraryAndAServerOfDifferentBuildsSayBothVersions) {
    FakeServer other(protocol::layout_hash() + 1);
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    in_child([&] {
        dup2(ends[1], 2);
        setenv(protocol::kEnvSocket, other.path().c_str(), 1);
        return client::connection::hello() ? 1 : 0;
    });
    close(ends[1]);
    char text[1024] = {};
    const ssize_t n = read(ends[0], text, sizeof text - 1);
    close(ends[0]);
    ASSERT_GT(n, 0);
    EXPECT_EQ(std::string(text).find("simverbs: "), 0U);
    char ours[32], theirs[32];
    std::snprintf(ours, sizeof ours, "%016llx", static_cast<unsigned long long>(protocol::layout_hash()));
    std::snprintf(theirs, sizeof theirs, "%016llx", static_cast<unsigned long long>(protocol::layout_hash() + 1));
    EXPECT_NE(std::string(text).find(ours), std::string::npos) << text;
    EXPECT_NE(std::string(text).find(theirs), std::string::npos) << text;
    EXPECT_EQ(std::string(text).find('\n'), std::string(text).size() - 1) << "one line";
}

}  // namespace
}  // namespace simverbs::test
