// Memory in front of a driver's: the null space is nobody's.
#pragma once

#include <algorithm>
#include <array>

#include "models/host/host_memory.hpp"

namespace simverbs::host {

/// Answers for kNullSpace itself, and hands everything else on.
class NullSpaceFilter final : public HostMemory {
  public:
    explicit NullSpaceFilter(HostMemory& behind) noexcept : behind_(&behind) {}

    bool read(AddressSpaceId space, uint64_t va, std::span<uint8_t> out) override {
        if (space != kNullSpace) return behind_->read(space, va, out);
        std::ranges::fill(out, uint8_t{0});
        return true;
    }
    bool write(AddressSpaceId space, uint64_t va, std::span<const uint8_t> in) override {
        return space == kNullSpace || behind_->write(space, va, in);
    }
    bool copy(AddressSpaceId from, uint64_t from_va, AddressSpaceId to, uint64_t to_va, uint64_t bytes) override {
        if (to == kNullSpace) return true;
        if (from != kNullSpace) return behind_->copy(from, from_va, to, to_va, bytes);
        static constexpr std::array<uint8_t, 4096> kZeros{};
        for (uint64_t done = 0; done < bytes; done += kZeros.size()) {
            const auto n = std::min<uint64_t>(bytes - done, kZeros.size());
            if (!behind_->write(to, to_va + done, std::span(kZeros).first(n))) return false;
        }
        return true;
    }

  private:
    HostMemory* behind_;
};

}  // namespace simverbs::host
