// What is kept of a program's output, and what is found in it.
#include "tools/simverbs/output_capture.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tools/simverbs/listening_port.hpp"
#include "tools/simverbs/output_relay.hpp"

namespace simverbs::tools {
namespace {

TEST(OutputCapture, PatternsLookAtWholeLinesOfTheirProgramAlone) {
    OutputCapture capture(false);
    const auto first = capture.add_program("[a] ");
    const auto second = capture.add_program("[b] ");
    const size_t ready = capture.watch(0, "^ready$");
    const size_t other = capture.watch(1, "ready");
    EXPECT_FALSE(capture.drain());
    write_all(first.out.get(), "not ready\nrea");
    EXPECT_TRUE(capture.drain());
    EXPECT_FALSE(capture.has_matched(ready));
    write_all(first.err.get(), "a word on stderr\n");
    capture.drain();
    write_all(first.out.get(), "dy\n");
    capture.drain();
    EXPECT_TRUE(capture.has_matched(ready));
    EXPECT_FALSE(capture.has_matched(other));
    EXPECT_EQ(capture.text(0), "not ready\nready\na word on stderr\n");
    EXPECT_EQ(capture.text(1), "");
}

TEST(OutputCapture, TheTextDoesNotDependOnWhenThePipesAreRead) {
    std::vector<std::string> texts;
    for (int reads = 1; reads <= 4; ++reads) {
        OutputCapture capture(false);
        const auto ends = capture.add_program("");
        for (int i = 0; i < 12; ++i) {
            write_all((i % 3 == 0 ? ends.err : ends.out).get(), "line " + std::to_string(i) + "\n");
            if (i % reads == 0) capture.drain();
        }
        capture.drain();
        texts.push_back(capture.text(0));
    }
    EXPECT_EQ(texts, std::vector<std::string>(4, texts.front()));
    EXPECT_TRUE(texts.front().ends_with("line 11\nline 0\nline 3\nline 6\nline 9\n")) << texts.front();
}

TEST(OutputCapture, ALineWithoutAnEndCountsAtTheEnd) {
    OutputCapture capture(false);
    auto ends = capture.add_program("");
    const size_t watch = capture.watch(0, "last words");
    write_all(ends.out.get(), "last words");
    capture.drain();
    EXPECT_FALSE(capture.has_matched(watch));
    ends.out.reset();
    ends.err.reset();
    capture.finish();
    EXPECT_TRUE(capture.has_matched(watch));
    EXPECT_EQ(capture.text(0), "last words\n");
}

TEST(OutputCapture, OfAVastOutputBeginningAndEndAreKept) {
    OutputCapture capture(false);
    const auto ends = capture.add_program("");
    const size_t watch = capture.watch(0, "needle");
    write_all(ends.out.get(), "begin\n");
    for (int i = 0; i < 100; ++i) {
        write_all(ends.out.get(), std::string(9'999, 'x') + "\n");
        if (i == 50) write_all(ends.out.get(), "needle\n");
        capture.drain();
    }
    write_all(ends.out.get(), "end\n");
    capture.drain();
    const std::string text = capture.text(0);
    EXPECT_TRUE(text.starts_with("begin\n"));
    EXPECT_TRUE(text.ends_with("x\nend\n"));
    EXPECT_LT(text.size(), 3 * OutputCapture::kKeptBytes);
    EXPECT_NE(text.find(" bytes left out]\n"), std::string::npos);
    EXPECT_EQ(text.find("needle"), std::string::npos);
    EXPECT_TRUE(capture.has_matched(watch));
}

TEST(OutputCapture, AnEndlessLineIsCutAndHarmsNoPattern) {
    OutputCapture capture(false);
    const auto ends = capture.add_program("");
    const size_t watch = capture.watch(0, "^(x+)y$");
    for (int i = 0; i < 10; ++i) {
        write_all(ends.out.get(), std::string(OutputCapture::kKeptBytes, 'x'));
        capture.drain();
    }
    EXPECT_FALSE(capture.has_matched(watch));
}

TEST(ListeningPort, SocketsOfASimulatedHostAreFoundByItsAddress) {
    constexpr uint32_t kBlock = 14;  // no lab has it
    const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(127U << 24 | kBlock << 16 | 0x0102);
    ASSERT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
    socklen_t size = sizeof at;
    ASSERT_EQ(::getsockname(fd, reinterpret_cast<sockaddr*>(&at), &size), 0);
    const int port = ntohs(at.sin_port);
    EXPECT_FALSE(is_listening(kBlock, 0x0A000102, port));
    ASSERT_EQ(::listen(fd, 1), 0);
    EXPECT_TRUE(is_listening(kBlock, 0x0A000102, port));
    EXPECT_FALSE(is_listening(kBlock, 0x0A000103, port));
    EXPECT_FALSE(is_listening(kBlock + 1, 0x0A000102, port));
    ::close(fd);
}

}  // namespace
}  // namespace simverbs::tools
