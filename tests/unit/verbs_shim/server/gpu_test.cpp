// GPUs as the server keeps them: ranges of memory, and what a program that lies about them can reach.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/fuzz/detached_lab.hpp"
#include "verbs_shim/protocol/gpu_messages.hpp"
#include "verbs_shim/server/control.hpp"
#include "verbs_shim/server/range_allocator.hpp"

namespace simverbs::server {
namespace {

using namespace protocol;

TEST(RangeAllocator, GivesTheLowestRangeThatIsLongEnoughAndJoinsWhatComesBack) {
    RangeAllocator ranges(1000, 10);
    EXPECT_EQ(ranges.take(95), 0U);
    EXPECT_EQ(ranges.take(10), 100U);
    EXPECT_EQ(ranges.take(890), 110U);
    EXPECT_FALSE(ranges.take(1).has_value());
    ranges.give(0, 95);
    ranges.give(110, 890);
    EXPECT_EQ(ranges.free_bytes(), 990U);
    EXPECT_FALSE(ranges.take(900).has_value()) << "two ranges are not one";
    ranges.give(100, 10);
    EXPECT_EQ(ranges.take(1000), 0U);
}

/// A program of the first host that speaks for itself.
class Gpus : public testing::Test {
  protected:
    ~Gpus() override {
        lab_.process_died(process_, 0);
        detached_.run(1000);
    }
    template <class Request, class Reply>
    int send(Request request, Reply& reply, Op op) {
        request.h.op = op;
        request.h.bytes = sizeof request;
        const uint8_t* const bytes = reinterpret_cast<const uint8_t*>(&request);
        const ControlReply answer = handle_request(lab_, client_, {bytes, sizeof request}, lab_.engine().frontier());
        std::memcpy(static_cast<void*>(&reply), answer.bytes.data(), std::min(answer.bytes.size(), sizeof reply));
        return reply.h.error;
    }
    int open() {
        OpenGpusReply reply;
        const int error = send(ObjectRequest{}, reply, Op::OpenGpus);
        for (uint32_t gpu = 0; gpu < reply.num_gpus; ++gpu) {
            GpuRequest place = request(GpuCall::Place);
            place.gpu = gpu;
            place.address = base(gpu);
            EXPECT_EQ(use(place).result, kGpuSuccess);
        }
        return error;
    }
    static GpuRequest request(GpuCall call) {
        GpuRequest r;
        r.call = call;
        return r;
    }
    GpuReply use(const GpuRequest& r) {
        GpuReply reply;
        error_ = send(r, reply, Op::UseGpu);
        return reply;
    }
    static constexpr uint64_t base(uint32_t gpu) { return 0x200000000000 + gpu * (uint64_t{1} << 40); }
    uint64_t alloc(uint32_t gpu, uint64_t bytes) {
        GpuRequest r = request(GpuCall::Alloc);
        r.gpu = gpu;
        r.bytes = bytes;
        const GpuReply reply = use(r);
        EXPECT_EQ(reply.result, kGpuSuccess);
        return reply.address;
    }

    fuzz::DetachedLab& detached_ = fuzz::DetachedLab::instance();
    Lab& lab_ = detached_.lab();
    Client& client_ = lab_.add_detached_client(0);
    const uint32_t process_ = client_.process;
    int error_ = 0;
};

TEST_F(Gpus, WhoHasNotOpenedThemUsesNone) {
    (void)use(request(GpuCall::Modules));
    EXPECT_EQ(error_, ENODEV);
}

TEST_F(Gpus, SmallAllocationsShareABlockAndLargeOnesDoNot) {
    ASSERT_EQ(open(), 0);
    const uint64_t one = alloc(0, 100), two = alloc(0, 100), large = alloc(0, 4 << 20);
    EXPECT_EQ(one, base(0));
    EXPECT_EQ(two, one + 512);
    EXPECT_EQ(large, base(0) + (2 << 20));
    GpuRequest free = request(GpuCall::Free);
    free.address = one + 512;
    EXPECT_EQ(use(free).result, kGpuSuccess);
    EXPECT_EQ(use(free).result, kGpuInvalidValue) << "freed twice";
    EXPECT_EQ(alloc(0, 5), two);
}

TEST_F(Gpus, ACopyOutOfAnAllocationIsRefusedAndOneInsideMovesTheBytes) {
    ASSERT_EQ(open(), 0);
    const uint64_t gpu = alloc(0, 4096), other = alloc(1, 4096);
    uint64_t from = 0x1122334455667788, to = 0;
    GpuRequest copy = request(GpuCall::Copy);
    copy.from = reinterpret_cast<uint64_t>(&from);
    copy.to = gpu + 4090;
    copy.bytes = 8;
    EXPECT_EQ(use(copy).result, kGpuInvalidValue);
    copy.to = gpu + 8;
    EXPECT_EQ(use(copy).result, kGpuSuccess);
    copy.from = copy.to;
    copy.to = other;
    EXPECT_EQ(use(copy).result, kGpuSuccess);
    copy.from = copy.to;
    copy.to = reinterpret_cast<uint64_t>(&to);
    copy.flags = kGpuCopySync;
    const GpuReply reply = use(copy);
    EXPECT_EQ(reply.result, kGpuSuccess);
    EXPECT_NE(reply.key, 0U) << "it takes time";
    detached_.run(1000);
    lab_.before_turn(client_, sim::SimTime::max() - sim::SimTime::ns(1));
    EXPECT_EQ(to, from);
}

TEST_F(Gpus, ADeadProgramLeavesNothingAndTakesNothingOfOthers) {
    ASSERT_EQ(open(), 0);
    const uint64_t before = lab_.hosts()[0].gpus->memory(0).free_bytes();
    Client& victim = lab_.add_detached_client(0);
    (void)victim;
    const uint64_t mine = alloc(0, 8 << 20);
    EXPECT_EQ(lab_.hosts()[0].gpus->memory(0).free_bytes(), before - (8 << 20));
    lab_.process_died(victim.process, 0);
    GpuRequest pointer = request(GpuCall::Pointer);
    pointer.address = mine;
    EXPECT_EQ(use(pointer).flags, kGpuDeviceMemory);
    lab_.remove_client(process_);
    EXPECT_EQ(lab_.hosts()[0].gpus->memory(0).free_bytes(), before);
}

TEST_F(Gpus, AHandleBetweenProcessesCannotBeGuessed) {
    ASSERT_EQ(open(), 0);
    GpuRequest out = request(GpuCall::IpcExport);
    out.address = alloc(0, 4096);
    const GpuReply exported = use(out);
    ASSERT_EQ(exported.result, kGpuSuccess);
    GpuRequest in = request(GpuCall::IpcOpen);
    std::memcpy(in.token, exported.token, sizeof in.token);
    EXPECT_EQ(use(in).result, kGpuInvalidContext) << "one's own";
    in.token[9] ^= 1;
    EXPECT_EQ(use(in).result, kGpuInvalidValue);
}

}  // namespace
}  // namespace simverbs::server
