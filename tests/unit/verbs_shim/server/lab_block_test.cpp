#include "verbs_shim/server/lab_block.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>

namespace simverbs::server {
namespace {

namespace fs = std::filesystem;

TEST(LabBlock, TwoLabsHaveDifferentBlocksAndFolders) {
    const LabBlock a;
    const LabBlock b;
    EXPECT_NE(a.block(), b.block());
    EXPECT_NE(a.folder(), b.folder());
    EXPECT_GE(a.block(), LabBlock::kFirst);
    EXPECT_TRUE(fs::is_directory(a.folder()));
    EXPECT_LT(a.folder().size(), 90U) << "a socket's path must fit behind it";
}

TEST(LabBlock, NothingIsLeftBehind) {
    std::string folder;
    {
        const LabBlock lab;
        folder = lab.folder();
        fs::create_directories(folder + "/deep/er");
    }
    EXPECT_FALSE(fs::exists(folder));
}

TEST(LabBlock, WhatADeadLabLeftIsGoneInTheNextOne) {
    auto lab = std::make_unique<LabBlock>(200);
    const uint32_t block = lab->block();
    const std::string folder = lab->folder();
    lab.reset();
    fs::create_directories(folder + "/left_behind");
    const LabBlock next(block);
    ASSERT_EQ(next.block(), block);
    EXPECT_FALSE(fs::exists(folder + "/left_behind"));
}

TEST(LabBlock, AnyNextLabRemovesWhatDeadLabsLeftAndNothingOfTheLiving) {
    const LabBlock living(201);
    fs::create_directories(living.folder() + "/in_use");
    auto dead = std::make_unique<LabBlock>(202);
    const std::string folder = dead->folder();
    dead.reset();
    fs::create_directories(folder + "/left_behind");
    const LabBlock next(203);
    ASSERT_NE(next.folder(), folder);
    EXPECT_FALSE(fs::exists(folder));
    EXPECT_TRUE(fs::exists(living.folder() + "/in_use"));
}

}  // namespace
}  // namespace simverbs::server
