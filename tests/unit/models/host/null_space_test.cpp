#include "models/host/null_space.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace simverbs::host {
namespace {

/// One space, 1, of 8 KiB from address 0.
class OneSpace final : public HostMemory {
  public:
    std::vector<uint8_t> bytes = std::vector<uint8_t>(8192, 0xEE);
    bool read(AddressSpaceId space, uint64_t va, std::span<uint8_t> out) override {
        if (space != 1 || va + out.size() > bytes.size()) return false;
        std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(va), out.size(), out.begin());
        return true;
    }
    bool write(AddressSpaceId space, uint64_t va, std::span<const uint8_t> in) override {
        if (space != 1 || va + in.size() > bytes.size()) return false;
        std::ranges::copy(in, bytes.begin() + static_cast<std::ptrdiff_t>(va));
        return true;
    }
    bool copy(AddressSpaceId, uint64_t, AddressSpaceId, uint64_t, uint64_t) override { return false; }
};

TEST(NullSpace, ReadsAsZerosAndSwallowsWrites) {
    OneSpace memory;
    NullSpaceFilter filter(memory);
    std::vector<uint8_t> out(100, 0xFF);
    EXPECT_TRUE(filter.read(kNullSpace, 12345, out));
    EXPECT_EQ(out, std::vector<uint8_t>(100, 0));
    EXPECT_TRUE(filter.write(kNullSpace, 12345, out));
    EXPECT_TRUE(filter.copy(1, 0, kNullSpace, 0, 5000));
    EXPECT_EQ(memory.bytes, std::vector<uint8_t>(8192, 0xEE));
}

TEST(NullSpace, CopiesOutOfItWriteZeros_AsFarAsTheTargetCanBeReached) {
    OneSpace memory;
    NullSpaceFilter filter(memory);
    EXPECT_TRUE(filter.copy(kNullSpace, 7, 1, 1, 5000));
    EXPECT_EQ(memory.bytes[0], 0xEE);
    EXPECT_EQ(memory.bytes[5000], 0);
    EXPECT_EQ(memory.bytes[5001], 0xEE);
    EXPECT_FALSE(filter.copy(kNullSpace, 0, 1, 8000, 500));
    EXPECT_FALSE(filter.read(2, 0, std::span<uint8_t>())) << "other spaces are the driver's";
}

}  // namespace
}  // namespace simverbs::host
