// A packet's headers in words, by their names in the standard.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/wire/packet.hpp"
#include "models/wire/packet_extra.hpp"

namespace simverbs::timeline {

/// What stands behind the BTH, a line for each header: "RETH  VA 0x1000, R_Key 0x000042, DMA length 65536".
[[nodiscard]] std::vector<std::string> header_lines(const wire::Packet& packet, const wire::PacketExtra& extra);

/// "ACK, credits for 6 messages", "NAK, PSN sequence error", "RNR NAK, wait 0.64 ms".
[[nodiscard]] std::string syndrome_text(uint8_t syndrome);

/// A management datagram: its name ("CM REQ", "MAD of class 3") and what is in it.
struct MadText {
    std::string name;
    std::vector<std::string> lines;
};
[[nodiscard]] MadText mad_text(std::span<const uint8_t> mad);

}  // namespace simverbs::timeline
