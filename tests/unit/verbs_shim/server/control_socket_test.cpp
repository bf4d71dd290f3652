// The control socket and the lab page among liars: whatever comes, the next honest program is let in.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tests/fuzz/detached_lab.hpp"
#include "verbs_shim/protocol/messages.hpp"

namespace simverbs::server {
namespace {

class ControlSocket : public testing::Test {
  protected:
    void SetUp() override { detached_.notes.clear(); }
    void TearDown() override {
        for (int i = 0; i < 4; ++i) poll();
    }
    [[nodiscard]] UniqueFd connect_to_lab() const {
        UniqueFd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::memcpy(address.sun_path, lab_.socket_path().c_str(), lab_.socket_path().size() + 1);
        if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return {};
        return fd;
    }
    void poll() {
        while (lab_.poller().poll(0) > 0) {
        }
    }
    static protocol::HelloRequest hello_of(const char* host) {
        protocol::HelloRequest hello;
        hello.h.op = protocol::Op::Hello;
        hello.h.bytes = sizeof hello;
        hello.layout_hash = protocol::layout_hash();
        std::strncpy(hello.host, host, sizeof hello.host - 1);
        std::strncpy(hello.command, "liar\x1b[31m", sizeof hello.command - 1);
        return hello;
    }
    /// An honest program comes: 0, the error it is told, or -1 if it is not answered.
    int come(const char* host = "h0") {
        const UniqueFd fd = connect_to_lab();
        const protocol::HelloRequest hello = hello_of(host);
        poll();
        if (::send(fd.get(), &hello, sizeof hello, MSG_NOSIGNAL) != sizeof hello) return -1;
        poll();
        protocol::HelloReply reply{};
        if (::recv(fd.get(), &reply, sizeof reply, 0) != sizeof reply) return -1;
        if (reply.h.error != 0) return reply.h.error;
        EXPECT_LT(reply.process, protocol::kMaxProcesses);
        Client* client = lab_.client_of_process(reply.process);
        EXPECT_NE(client, nullptr);
        if (client != nullptr) {
            EXPECT_EQ(client->command, "liar [31m");
        }
        lab_.process_died(reply.process, 0);
        return 0;
    }
    fuzz::DetachedLab& detached_ = fuzz::DetachedLab::instance();
    Lab& lab_ = detached_.lab();
};

TEST_F(ControlSocket, ManySilentConnectionsKeepNobodyOut_AndAreToldOnce) {
    std::vector<UniqueFd> silent;
    for (int i = 0; i < 300; ++i) {
        silent.push_back(connect_to_lab());
        ASSERT_TRUE(silent.back().valid()) << i;
        poll();
    }
    EXPECT_EQ(come(), 0);
    ASSERT_EQ(detached_.notes.size(), 1U);
    EXPECT_NE(detached_.notes[0].find("pid " + std::to_string(::getpid())), std::string::npos) << detached_.notes[0];
    char byte = 0;
    EXPECT_EQ(::recv(silent.front().get(), &byte, 1, 0), 0) << "the oldest is closed";
    EXPECT_EQ(::recv(silent.back().get(), &byte, 1, 0), -1) << "the youngest is not";
}

TEST_F(ControlSocket, GarbageInsteadOfAHelloIsHungUpOn) {
    const protocol::HelloRequest good = hello_of("h0");
    EXPECT_EQ(come("nowhere"), ENOENT);
    for (size_t bytes :
         {size_t{1}, sizeof(protocol::RequestHeader) - 1, sizeof(protocol::RequestHeader), size_t{100000}}) {
        for (const uint8_t fill : {0x00, 0xFF, 0x5A}) {
            const UniqueFd fd = connect_to_lab();
            std::vector<uint8_t> message(bytes, fill);
            if (fill == 0x5A) std::memcpy(message.data(), &good, std::min(bytes, sizeof good));
            (void)::send(fd.get(), message.data(), message.size(), MSG_NOSIGNAL);
            poll();
        }
    }
    {
        const UniqueFd closes_before_it_is_heard = connect_to_lab();
        (void)::send(closes_before_it_is_heard.get(), &good, sizeof good, MSG_NOSIGNAL);
    }
    poll();
    EXPECT_EQ(come(), 0);
}

TEST_F(ControlSocket, DescriptorsThatComeWithAMessageAreNotKept) {
    const auto open_descriptors = [] {
        int n = 0;
        for (int fd = 0; fd < 1024; ++fd) n += ::fcntl(fd, F_GETFD) >= 0 ? 1 : 0;
        return n;
    };
    EXPECT_EQ(come(), 0);
    const int before = open_descriptors();
    for (int i = 0; i < 20; ++i) {
        const UniqueFd fd = connect_to_lab();
        char byte = 0;
        iovec part{&byte, 1};
        alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
        msghdr message{};
        message.msg_iov = &part;
        message.msg_iovlen = 1;
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        cmsghdr* header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        const int stdin_of_ours = 0;
        std::memcpy(CMSG_DATA(header), &stdin_of_ours, sizeof stdin_of_ours);
        (void)::sendmsg(fd.get(), &message, MSG_NOSIGNAL);
        poll();
    }
    poll();
    EXPECT_EQ(open_descriptors(), before);
}

TEST_F(ControlSocket, GarbageInTheLabPageDoesNotLeadTheServerAstray) {
    protocol::LabShared& page = lab_.shared();
    EXPECT_EQ(come(), 0);
    const uint32_t slots = page.num_slots.load(), processes = page.num_processes.load();
    page.num_slots.store(~0U);
    page.num_processes.store(~0U);
    for (protocol::ProcessEntry& entry : page.processes) {
        entry.pid = 1;
        entry.host = ~0U;
        entry.program = ~0U;
    }
    for (protocol::ThreadSlot& slot : page.slots) slot.process = ~0U;
    EXPECT_EQ(come(), 0);
    EXPECT_EQ(lab_.latest_clock(0) >= 0, true);
    page.num_slots.store(slots);
    page.num_processes.store(processes);
}

TEST_F(ControlSocket, NobodyCanShrinkOrGrowWhatAllShare) {
    Client& client = lab_.add_detached_client(0);
    const int fd = client.arena->fd();
    EXPECT_EQ(::ftruncate(fd, 0), -1);
    EXPECT_EQ(errno, EPERM);
    EXPECT_EQ(::ftruncate(fd, static_cast<off_t>(2 * protocol::kArenaBytes)), -1);
    lab_.process_died(client.process, 0);
}

}  // namespace
}  // namespace simverbs::server
