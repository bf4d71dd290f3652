#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

/// The eight bits of an AETH syndrome and the two tables they index
/// (IBTA vol. 1, "AETH syndrome field", "End-to-end flow control credits", "RNR NAK timer field").
namespace simverbs::wire {

/// Bits 6…5 of the syndrome. Bit 7 is reserved.
enum class SyndromeKind : std::uint8_t { Ack = 0, RnrNak = 1, Reserved = 2, Nak = 3 };

/// Low five bits of a NAK syndrome.
enum class NakCode : std::uint8_t {
    PsnSequenceError = 0,
    InvalidRequest = 1,
    RemoteAccessError = 2,
    RemoteOperationalError = 3,
    InvalidRdRequest = 4,
};

/// A syndrome, taken apart. `value` is a credit code, an RNR timer code or a NAK code, by `kind`.
struct Syndrome {
    SyndromeKind kind = SyndromeKind::Ack;
    std::uint8_t value = 0;

    static constexpr std::uint8_t kValueMask = 0x1F;

    /// nullopt for the reserved kind and if the top bit is set.
    static constexpr std::optional<Syndrome> decode(std::uint8_t syndrome) noexcept {
        const auto kind = static_cast<SyndromeKind>((syndrome >> 5) & 3);
        if ((syndrome & 0x80) != 0 || kind == SyndromeKind::Reserved) return std::nullopt;
        return Syndrome{kind, static_cast<std::uint8_t>(syndrome & kValueMask)};
    }
    [[nodiscard]] constexpr std::uint8_t encode() const noexcept {
        return static_cast<std::uint8_t>((static_cast<std::uint8_t>(kind) << 5) | (value & kValueMask));
    }
    [[nodiscard]] constexpr NakCode nak_code() const noexcept { return static_cast<NakCode>(value); }

    static constexpr Syndrome ack(std::uint8_t credit_code) noexcept { return {SyndromeKind::Ack, credit_code}; }
    static constexpr Syndrome rnr_nak(std::uint8_t timer_code) noexcept { return {SyndromeKind::RnrNak, timer_code}; }
    static constexpr Syndrome nak(NakCode code) noexcept {
        return {SyndromeKind::Nak, static_cast<std::uint8_t>(code)};
    }

    friend constexpr bool operator==(Syndrome, Syndrome) noexcept = default;
};

/// Credit code that promises nothing and limits nothing; always sent by a QP with an SRQ.
inline constexpr std::uint8_t kUnlimitedCreditCode = 31;

/// Receive WQEs that a credit code stands for; code 31 is "unlimited" and has no row.
inline constexpr std::array<std::uint32_t, 31> kCreditTable = {
    0,   1,   2,   3,   4,    6,    8,    12,   16,   24,   32,   48,    64,    96,    128,   192,
    256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768,
};

/// The largest credit code that does not promise more than `receive_wqes`.
constexpr std::uint8_t credit_code_for(std::uint32_t receive_wqes) noexcept {
    std::uint8_t code = 0;
    while (code + 1u < kCreditTable.size() && kCreditTable[code + 1u] <= receive_wqes) ++code;
    return code;
}

/// RNR NAK waiting times by timer code, in units of 10 microseconds.
inline constexpr std::array<std::uint32_t, 32> kRnrTimerTable = {
    65536, 1,   2,   3,   4,    6,    8,    12,   16,   24,   32,   48,    64,    96,    128,   192,
    256,   384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
};

inline constexpr std::int64_t kPicosecondsPerRnrUnit = 10'000'000;

/// The waiting time of an RNR timer code (its low five bits), in picoseconds.
constexpr std::int64_t rnr_timer_picoseconds(std::uint8_t code) noexcept {
    return std::int64_t{kRnrTimerTable[code & Syndrome::kValueMask]} * kPicosecondsPerRnrUnit;
}

/// Local ACK timeout 4.096 µs · 2^`timeout` in picoseconds; 0 means "never" (IBTA vol. 1, 9.9.2.1.1).
/// `timeout` is a five-bit field.
constexpr std::int64_t ack_timeout_picoseconds(std::uint8_t timeout) noexcept {
    return (timeout & 0x1F) == 0 ? 0 : std::int64_t{4'096'000} << (timeout & 0x1F);
}

namespace detail {
/// Both tables have the form 2^n, 3·2^(n−1) from their second power on.
constexpr bool grows_by_halves(const auto& table, std::size_t first, std::size_t end) {
    for (std::size_t i = first; i + 2 < end; ++i) {
        if (table[i + 2] != 2 * table[i]) return false;
    }
    return true;
}
}  // namespace detail

static_assert(detail::grows_by_halves(kCreditTable, 3, kCreditTable.size()));
static_assert(detail::grows_by_halves(kRnrTimerTable, 3, kRnrTimerTable.size()));
static_assert(kCreditTable.back() == 32768 && kRnrTimerTable.back() == 49152);
static_assert(rnr_timer_picoseconds(0) == 655'360'000'000 && rnr_timer_picoseconds(1) == 10'000'000);
static_assert(ack_timeout_picoseconds(14) == 67'108'864'000);

}  // namespace simverbs::wire
