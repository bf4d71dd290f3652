// Sizes of transaction layer packets: what a transfer puts on a link.
#pragma once

#include <cstdint>

namespace simverbs::pcie {

/// Kinds of TLPs, each with credits of its own.
enum class TlpKind : uint8_t { MWr, MRd, CplD };

/// Framing, sequence number, header (64-bit addresses) and LCRC. Source: PCI Express Base 5.0, 2.2 and 3.6.
inline constexpr uint32_t kMWrOverhead = 24;
inline constexpr uint32_t kMRdOverhead = 24;
inline constexpr uint32_t kCplDOverhead = 20;

[[nodiscard]] constexpr uint32_t tlp_overhead(TlpKind kind) noexcept {
    return kind == TlpKind::CplD ? kCplDOverhead : kMWrOverhead;
}

/// TLPs for `bytes`, `unit` at a time: MPS for writes, MRRS for read requests, the completer's size for completions.
/// Nothing takes one TLP, too (a read of no bytes, a flush).
[[nodiscard]] constexpr uint32_t tlp_count(uint32_t bytes, uint32_t unit) noexcept {
    return bytes <= unit ? 1 : (bytes + unit - 1) / unit;
}

/// What crosses the link: framing and, but for read requests, data.
[[nodiscard]] constexpr uint32_t wire_bytes(TlpKind kind, uint32_t bytes, uint32_t unit) noexcept {
    return tlp_count(bytes, unit) * tlp_overhead(kind) + (kind == TlpKind::MRd ? 0 : bytes);
}

/// A receiver's credits of one kind: a header credit is a TLP, a data credit 16 bytes.
/// Source: PCI Express Base 5.0, 2.6.1.
struct Credits {
    uint32_t headers;
    uint32_t data;
};

inline constexpr uint32_t kDataCreditBytes = 16;

/// What `bytes` in TLPs of `unit` take.
[[nodiscard]] constexpr Credits credits_of(TlpKind kind, uint32_t bytes, uint32_t unit) noexcept {
    const uint32_t tlps = tlp_count(bytes, unit);
    if (kind == TlpKind::MRd) return {tlps, 0};
    // Every TLP but the last is full, and a full one is a whole number of credits.
    return {tlps, (bytes + kDataCreditBytes - 1) / kDataCreditBytes};
}

static_assert(wire_bytes(TlpKind::MWr, 64, 256) == 88 && wire_bytes(TlpKind::CplD, 256, 256) == 276);

}  // namespace simverbs::pcie
