// What a thread has loaded from protected pages since its last call: a load that repeats exactly is a spin loop.
#pragma once

#include <ucontext.h>

#include <cstdint>

namespace simverbs::client::spin {

struct Observation {
    uint64_t rip, address, value, registers;
    bool operator==(const Observation&) const = default;
};

/// A hash of the general registers and the arithmetic flags.
inline uint64_t hash_registers(const ucontext_t& context) {
    uint64_t h = 1469598103934665603ULL;
    const auto& g = context.uc_mcontext.gregs;
    const auto add = [&h](uint64_t v) { h = (h ^ v) * 1099511628211ULL ^ h >> 29; };
    for (int i = 0; i < 16; ++i) add(static_cast<uint64_t>(g[i]));  // R8 … RSP
    return h;
}

/// The last few observations of a thread, all of one stretch of computing.
class Observations {
  public:
    enum class Verdict { New, Repeated, TooMany };

    /// `stretch` changes whenever the thread calls into the shim.
    Verdict add(const Observation& seen, uint32_t stretch) {
        if (stretch != stretch_) {
            stretch_ = stretch;
            count_ = 0;
        }
        for (uint32_t i = 0; i < count_; ++i)
            if (list_[i] == seen) return Verdict::Repeated;
        if (count_ == kMax) return Verdict::TooMany;
        list_[count_++] = seen;
        return Verdict::New;
    }
    void clear() { count_ = 0; }

  private:
    static constexpr uint32_t kMax = 8;
    uint32_t stretch_ = 0;
    uint32_t count_ = 0;
    Observation list_[kMax] = {};
};

}  // namespace simverbs::client::spin
