#include "verbs_shim/server/live_memory.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <numeric>

namespace simverbs::server {
namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kBytes = 32 * kPage;
constexpr int kSealed = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

UniqueFd make_memfd(uint64_t bytes, int seals, unsigned flags = 0) {
    UniqueFd fd(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING | flags));
    if (fd.valid() && (::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0 || ::fcntl(fd.get(), F_ADD_SEALS, seals)))
        fd.reset();
    return fd;
}

/// Three ranges of this process behind each other, private, shared, private; the middle one is segment 1 of space 1.
class LiveMemoryTest : public testing::Test {
  protected:
    void SetUp() override {
        memory_.add_space(1, ::getpid());
        memory_.add_space(2, ::getpid());
        base_ = static_cast<uint8_t*>(
            ::mmap(nullptr, 3 * kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        file_ = make_memfd(kBytes, kSealed);
        ASSERT_TRUE(file_.valid());
        ASSERT_EQ(::mmap(shared(), kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file_.get(), 0), shared());
        for (uint64_t i = 0; i < 3 * kBytes; ++i) base_[i] = static_cast<uint8_t>(i * 7 + i / 251);
        expected_.assign(base_, base_ + 3 * kBytes);
    }
    void TearDown() override { ::munmap(base_, 3 * kBytes); }

    bool share(uint32_t id = 1) {
        return memory_.share(1, id, va(shared()), kBytes, file_.get()) && memory_.hold_segment(1, id);
    }
    uint8_t* shared() { return base_ + kBytes; }
    static uint64_t va(const uint8_t* p) { return reinterpret_cast<uint64_t>(p); }

    LiveMemory memory_;
    UniqueFd file_;
    uint8_t* base_ = nullptr;
    std::vector<uint8_t> expected_;
};

TEST_F(LiveMemoryTest, ARangeThatIsSharedInTheMiddleReadsAndWritesAsOne) {
    ASSERT_TRUE(share());
    std::vector<uint8_t> got(3 * kBytes - 20);
    ASSERT_TRUE(memory_.read(1, va(base_ + 10), got));
    EXPECT_TRUE(std::equal(got.begin(), got.end(), expected_.begin() + 10));
    std::ranges::reverse(got);
    ASSERT_TRUE(memory_.write(1, va(base_ + 10), got));
    EXPECT_TRUE(std::equal(got.begin(), got.end(), base_ + 10));
    EXPECT_EQ(memory_.counts(1).reads, 1U);
    EXPECT_EQ(memory_.counts(1).read_bytes, got.size());
    EXPECT_EQ(memory_.counts(1).written_bytes, got.size());
}

TEST_F(LiveMemoryTest, CopiesBetweenSharedAndPrivateMemoryMeetAtAnyAddress) {
    ASSERT_TRUE(share());
    std::vector<uint8_t> other(3 * kBytes);
    for (const uint64_t offset : {uint64_t{0}, uint64_t{1}, kBytes - 3, kBytes, 2 * kBytes - 1}) {
        std::ranges::fill(other, uint8_t{0});
        const uint64_t bytes = 3 * kBytes - offset;
        ASSERT_TRUE(memory_.copy(1, va(base_ + offset), 2, va(other.data()), bytes));
        EXPECT_TRUE(std::equal(other.begin(), other.begin() + static_cast<std::ptrdiff_t>(bytes), base_ + offset));
        ASSERT_TRUE(memory_.copy(2, va(other.data()), 1, va(base_), bytes));
        EXPECT_TRUE(std::equal(other.begin(), other.begin() + static_cast<std::ptrdiff_t>(bytes), base_));
    }
}

TEST_F(LiveMemoryTest, OverlappingRangesInOneSegmentAreMovedNotSmeared) {
    ASSERT_TRUE(share());
    const std::vector<uint8_t> before(shared(), shared() + kBytes);
    ASSERT_TRUE(memory_.copy(1, va(shared()), 1, va(shared() + 100), kBytes - 100));
    EXPECT_TRUE(std::equal(before.begin(), before.end() - 100, shared() + 100));
}

TEST_F(LiveMemoryTest, WhatTheLastHolderReleasesIsReachedThroughTheKernelAgain) {
    ASSERT_TRUE(share());
    ASSERT_TRUE(memory_.hold_segment(1, 1));
    memory_.release_segment(1, 1);
    EXPECT_TRUE(memory_.hold_segment(1, 1));
    memory_.release_segment(1, 1);
    memory_.release_segment(1, 1);
    EXPECT_FALSE(memory_.hold_segment(1, 1));
    uint8_t byte = 0;
    ASSERT_TRUE(memory_.read(1, va(shared()), {&byte, 1}));
    EXPECT_EQ(byte, shared()[0]);
}

TEST_F(LiveMemoryTest, MemoryThatTheProcessMappedAnewIsNotTheSegmentAnyMore) {
    ASSERT_TRUE(share());
    ::mmap(shared(), kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    memory_.forget_others(1, va(shared()) + kBytes, kPage, 0);  // beside it
    EXPECT_TRUE(memory_.hold_segment(1, 1));
    memory_.forget_others(1, va(shared()) + kBytes - 1, 1, 1);  // itself
    EXPECT_TRUE(memory_.hold_segment(1, 1));
    memory_.forget_others(1, va(shared()) + kBytes - 1, 1, 0);
    EXPECT_FALSE(memory_.hold_segment(1, 1));
    uint8_t byte = 5;
    ASSERT_TRUE(memory_.write(1, va(shared()), {&byte, 1}));
    EXPECT_EQ(shared()[0], 5);
}

TEST_F(LiveMemoryTest, ANewSegmentTakesThePlaceOfThoseItOverlaps) {
    ASSERT_TRUE(share(1));
    EXPECT_FALSE(memory_.share(1, 1, va(shared()) + 2 * kBytes, kBytes, file_.get()));  // the number is taken
    const UniqueFd other = make_memfd(kBytes, kSealed);
    EXPECT_TRUE(memory_.share(1, 2, va(shared()) + kPage, kPage, other.get()));
    EXPECT_FALSE(memory_.hold_segment(1, 1));
    EXPECT_TRUE(memory_.hold_segment(1, 2));
    memory_.forget_segment(1, 2);
    EXPECT_FALSE(memory_.hold_segment(1, 2));
}

TEST_F(LiveMemoryTest, ASpaceThatIsGoneHasNoSegments) {
    ASSERT_TRUE(share());
    memory_.remove_space(1);
    EXPECT_FALSE(memory_.hold_segment(1, 1));
    EXPECT_FALSE(share(2));
    uint8_t byte = 0;
    EXPECT_FALSE(memory_.read(1, va(shared()), {&byte, 1}));
    EXPECT_FALSE(memory_.copy(1, va(shared()), 2, va(&byte), 1));
    EXPECT_FALSE(memory_.share(77, 1, va(shared()), kBytes, file_.get()));
}

TEST_F(LiveMemoryTest, FilesThatCouldFailUnderTheMappingAreRefused) {
    const uint64_t at = va(shared());
    const auto refused = [&](const UniqueFd& fd) { return fd.valid() && !memory_.share(1, 9, at, kBytes, fd.get()); };
    EXPECT_TRUE(refused(make_memfd(kBytes, 0))) << "can shrink";
    EXPECT_TRUE(refused(make_memfd(kBytes, F_SEAL_GROW))) << "can shrink";
    EXPECT_TRUE(refused(make_memfd(kBytes - 1, kSealed))) << "too short";
    EXPECT_TRUE(refused(make_memfd(kBytes, kSealed | F_SEAL_WRITE))) << "cannot be written";
    const UniqueFd huge = make_memfd(uint64_t{2} << 20, kSealed, MFD_HUGETLB);
    if (huge.valid()) {
        EXPECT_FALSE(memory_.share(1, 9, at, kBytes, huge.get())) << "huge pages may run out";
    }
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    EXPECT_TRUE(refused(UniqueFd(ends[0])));
    EXPECT_TRUE(refused(UniqueFd(ends[1])));
    EXPECT_TRUE(refused(UniqueFd(::open("/proc/self/exe", O_RDONLY))));
    EXPECT_FALSE(memory_.share(1, 9, at, kBytes, -1));
}

TEST_F(LiveMemoryTest, RangesThatMakeNoSenseAreRefused) {
    const auto share = [&](uint32_t id, uint64_t at, uint64_t bytes) {
        return memory_.share(1, id, at, bytes, file_.get());
    };
    EXPECT_FALSE(share(0, va(shared()), kBytes));
    EXPECT_FALSE(share(1, va(shared()) + 1, kBytes));
    EXPECT_FALSE(share(1, va(shared()), kBytes - 1));
    EXPECT_FALSE(share(1, va(shared()), 0));
    EXPECT_FALSE(share(1, ~uint64_t{0} - kPage + 1, kPage));
    EXPECT_FALSE(share(1, va(shared()), (uint64_t{1} << 30) + kPage));
    EXPECT_FALSE(share(1, va(shared()), ~uint64_t{0} - kPage + 1));
    uint8_t bytes[16] = {};
    EXPECT_FALSE(memory_.read(1, ~uint64_t{0} - 3, bytes));
}

TEST_F(LiveMemoryTest, ASpaceHasOnlySoManySegments) {
    constexpr uint64_t kFar = uint64_t{1} << 40;
    for (uint32_t i = 1; i <= LiveSegments::kMost; ++i)
        ASSERT_TRUE(memory_.share(1, i, kFar + i * kPage, kPage, file_.get()));
    EXPECT_FALSE(memory_.share(1, 5000, kFar, kPage, file_.get()));
    memory_.forget_segment(1, 7);
    EXPECT_TRUE(memory_.share(1, 5000, kFar, kPage, file_.get()));
}

TEST(CopyAsDma, EveryLengthArrivesWhole) {
    std::vector<uint8_t> from(300), to(300);
    std::iota(from.begin(), from.end(), uint8_t{1});
    for (uint64_t n = 0; n < from.size(); ++n) {
        std::ranges::fill(to, uint8_t{0});
        copy_as_dma(to.data(), from.data(), n);
        EXPECT_TRUE(std::equal(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(n), to.begin()));
        EXPECT_EQ(std::count(to.begin() + static_cast<std::ptrdiff_t>(n), to.end(), 0), 300 - static_cast<long>(n));
    }
}

}  // namespace
}  // namespace simverbs::server
