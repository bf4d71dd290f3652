#include "models/wire/pcap_writer.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <utility>

#include "tests/unit/models/wire/pcap_file.hpp"

namespace simverbs::wire {
namespace {

using Bytes = std::vector<std::uint8_t>;

class PcapWriterTest : public testing::Test {
  protected:
    void SetUp() override {
        const auto* info = testing::UnitTest::GetInstance()->current_test_info();
        folder_ = std::filesystem::temp_directory_path() /
                  ("simverbs_" + std::string(info->name()) + "_" + std::to_string(::getpid()));
        std::filesystem::create_directories(folder_);
        path_ = folder_ / "a.pcap";
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    std::filesystem::path folder_;
    std::string path_;
};

TEST_F(PcapWriterTest, HeaderSaysNanosecondsAndTheLinkType) {
    for (const auto& [link, number] :
         {std::pair{LinkType::RoceV2Ipv4, 1u}, std::pair{LinkType::InfiniBandLocal, 197u}}) {
        PcapWriter writer;
        EXPECT_EQ(writer.open(path_, pcap_link_type_of(link)), "");
        EXPECT_EQ(writer.close(), "");
        const PcapFile file(path_);
        EXPECT_TRUE(file.ok);
        EXPECT_EQ(file.magic, 0xA1B23C4Du);
        EXPECT_EQ(file.link_type, number);
        EXPECT_EQ(std::filesystem::file_size(path_), 24u);
    }
}

TEST_F(PcapWriterTest, PicosecondsAreRoundedDownToNanoseconds) {
    PcapWriter writer;
    ASSERT_EQ(writer.open(path_, PcapLinkType::Ethernet), "");
    writer.append(0, Bytes{1});
    writer.append(1'999, Bytes{2, 3});
    writer.append(3'000'000'000'000 + 999'999'999'999, Bytes{});
    EXPECT_EQ(writer.frames(), 3u);
    ASSERT_EQ(writer.close(), "");
    const PcapFile file(path_);
    ASSERT_TRUE(file.ok);
    ASSERT_EQ(file.records.size(), 3u);
    EXPECT_EQ(file.records[0].fraction, 0u);
    EXPECT_EQ(file.records[1].fraction, 1u);
    EXPECT_EQ(file.records[1].frame, (Bytes{2, 3}));
    EXPECT_EQ(file.records[2].seconds, 3u);
    EXPECT_EQ(file.records[2].fraction, 999'999'999u);
    EXPECT_TRUE(file.records[2].frame.empty());
}

TEST_F(PcapWriterTest, InfiniBandFramesAreWrappedInErfRecords) {
    PcapWriter writer;
    ASSERT_EQ(writer.open(path_, PcapLinkType::InfiniBand), "");
    writer.append(2'500'000'000'000, Bytes{0xAA, 0xBB});
    ASSERT_EQ(writer.close(), "");
    const PcapFile file(path_);
    ASSERT_TRUE(file.ok);
    ASSERT_EQ(file.records.size(), 1u);
    EXPECT_EQ(file.records[0].seconds, 2u);
    EXPECT_EQ(file.records[0].frame, (Bytes{0, 0, 0, 0x80, 2, 0, 0, 0, 21, 4, 0, 18, 0, 0, 0, 2, 0xAA, 0xBB}));
}

TEST_F(PcapWriterTest, ManyFramesPassThroughTheBuffer) {
    PcapWriter writer;
    ASSERT_EQ(writer.open(path_, PcapLinkType::Ethernet), "");
    for (std::size_t i = 0; i < 1000; ++i) {
        ASSERT_EQ(writer.append(static_cast<std::int64_t>(i) * 1000, Bytes(i * 3, static_cast<std::uint8_t>(i))), "");
    }
    ASSERT_EQ(writer.close(), "");
    const PcapFile file(path_);
    ASSERT_TRUE(file.ok);
    ASSERT_EQ(file.records.size(), 1000u);
    for (std::size_t i = 0; i < 1000; ++i) {
        ASSERT_EQ(file.records[i].fraction, i);
        ASSERT_EQ(file.records[i].frame, Bytes(i * 3, static_cast<std::uint8_t>(i)));
    }
}

TEST_F(PcapWriterTest, FlushMakesFramesVisibleWhileTheFileIsOpen) {
    PcapWriter writer;
    ASSERT_EQ(writer.open(path_, PcapLinkType::Ethernet), "");
    writer.append(0, Bytes(60));
    EXPECT_EQ(std::filesystem::file_size(path_), 0u);
    EXPECT_EQ(writer.flush(), "");
    EXPECT_EQ(PcapFile(path_).records.size(), 1u);
    writer.append(1000, Bytes(60));
    writer.close();
    EXPECT_EQ(PcapFile(path_).records.size(), 2u);
}

TEST_F(PcapWriterTest, AFileThatCannotBeCreatedIsReportedWithItsName) {
    PcapWriter writer;
    const std::string path = folder_ / "missing" / "a.pcap";
    const std::string error = writer.open(path, PcapLinkType::Ethernet);
    EXPECT_EQ(error, "capture: cannot create " + path + ": No such file or directory");
    EXPECT_EQ(writer.append(0, Bytes(60)), error);
    EXPECT_EQ(writer.close(), error);
}

TEST_F(PcapWriterTest, AFullDiskIsReportedAndEndsTheWriting) {
    if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
    PcapWriter writer;
    ASSERT_EQ(writer.open("/dev/full", PcapLinkType::Ethernet), "");
    EXPECT_EQ(writer.append(0, Bytes(60)), "");
    EXPECT_EQ(writer.flush(), "capture: cannot write to /dev/full: No space left on device");
    EXPECT_NE(writer.append(0, Bytes(60)), "");
    EXPECT_EQ(writer.frames(), 1u);
    EXPECT_NE(writer.close(), "");
}

TEST_F(PcapWriterTest, WrongUseIsAnErrorNotACrash) {
    PcapWriter closed;
    EXPECT_NE(closed.append(0, Bytes(60)), "");
    PcapWriter writer;
    ASSERT_EQ(writer.open(path_, PcapLinkType::Ethernet), "");
    EXPECT_NE(writer.append(-1, Bytes(60)), "");
    ASSERT_EQ(writer.open(path_, PcapLinkType::Ethernet), "") << "opening again forgives";
    EXPECT_NE(writer.append(0, Bytes(PcapWriter::kMaxFrameBytes + 1)), "");
}

TEST_F(PcapWriterTest, AMovedWriterGoesOnWhereItWas) {
    PcapWriter writer;
    ASSERT_EQ(writer.open(path_, PcapLinkType::Ethernet), "");
    writer.append(0, Bytes(60));
    PcapWriter moved(std::move(writer));
    moved.append(1000, Bytes(60));
    PcapWriter assigned;
    assigned = std::move(moved);
    assigned.append(2000, Bytes(60));
    EXPECT_EQ(assigned.frames(), 3u);
    EXPECT_EQ(assigned.close(), "");
    EXPECT_EQ(PcapFile(path_).records.size(), 3u);
}

}  // namespace
}  // namespace simverbs::wire
