#include "verbs_shim/server/process_maps.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace simverbs::server {
namespace {

constexpr char kMaps[] =
    "1000-3000 rw-p 00000000 00:00 0 \n"
    "3000-4000 ---p 00000000 00:00 0 \n"
    "6000-8000 r--s 00000000 00:01 5 /some file\n"
    "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]\n";

TEST(ProcessMaps, ARangeOverNeighbouringMappingsIsCovered) {
    EXPECT_TRUE(maps_cover(kMaps, 0x1000, 0x3000));
    EXPECT_TRUE(maps_cover(kMaps, 0x2fff, 2));
    EXPECT_TRUE(maps_cover(kMaps, 0x7fff, 1));
}

TEST(ProcessMaps, AHoleIsNotCovered) {
    EXPECT_FALSE(maps_cover(kMaps, 0x3000, 0x1001));
    EXPECT_FALSE(maps_cover(kMaps, 0xfff, 1));
    EXPECT_FALSE(maps_cover(kMaps, 0x4000, 0x3000));
    EXPECT_FALSE(maps_cover(kMaps, 0x8000, 1));
}

TEST(ProcessMaps, WhatMayOnlyBeReadIsNotCoveredForWriting) {
    EXPECT_FALSE(maps_cover(kMaps, 0x7000, 1, true));
    EXPECT_TRUE(maps_cover(kMaps, 0x2fff, 2, true));
}

TEST(ProcessMaps, ARangeThatWrapsAroundIsNotCovered) {
    EXPECT_FALSE(maps_cover(kMaps, 0xffffffffff600000, 0xa00000));
}

TEST(ProcessMaps, TheEmptyRangeIsCoveredAndGarbageCoversNothing) {
    EXPECT_TRUE(maps_cover(kMaps, 0x5000, 0));
    EXPECT_FALSE(maps_cover("no maps at all\n-\n1000", 0x1000, 1));
}

TEST(ProcessMaps, ALiveMappingIsFoundAndGoneAfterUnmapping) {
    const auto bytes = static_cast<size_t>(::getpagesize()) * 2;
    void* at = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(at, MAP_FAILED);
    EXPECT_TRUE(is_mapped(::getpid(), reinterpret_cast<uint64_t>(at), bytes, false));
    ::munmap(at, bytes);
    EXPECT_FALSE(is_mapped(::getpid(), reinterpret_cast<uint64_t>(at), bytes, false));
}

}  // namespace
}  // namespace simverbs::server
