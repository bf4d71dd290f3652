#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/wire/link_type.hpp"

namespace simverbs::wire {

/// Link-layer header types of pcap files (tcpdump.org, "Link-Layer Header Types"). InfiniBand goes into ERF records
/// of type INFINIBAND, as ibdump writes them: there is a number for bare InfiniBand (247), but Wireshark does not read
/// it.
enum class PcapLinkType : std::uint32_t { Ethernet = 1, InfiniBand = 197 };

constexpr PcapLinkType pcap_link_type_of(LinkType link) noexcept {
    return is_infiniband(link) ? PcapLinkType::InfiniBand : PcapLinkType::Ethernet;
}

/// Writes one capture file: classic pcap with nanosecond time stamps, one link type, one port.
/// Nothing throws. The first error (cannot open, disk full, …) is kept, returned by the call that met it and by every
/// later one, and stops all writing; an empty string means "no error".
class PcapWriter {
  public:
    static constexpr std::uint32_t kSnapLength = 65535;
    /// No frame of the model is longer; an ERF header still fits in front of it.
    static constexpr std::size_t kMaxFrameBytes = 65000;

    PcapWriter() noexcept = default;
    PcapWriter(PcapWriter&& other) noexcept;
    PcapWriter& operator=(PcapWriter&& other) noexcept;
    PcapWriter(const PcapWriter&) = delete;
    PcapWriter& operator=(const PcapWriter&) = delete;
    /// Closes the file; an error is lost here, so call `close`.
    ~PcapWriter();

    /// Creates or truncates `path` and writes the file header. A file that is already open is closed first.
    [[nodiscard]] std::string open(const std::string& path, PcapLinkType link_type) noexcept;

    /// Adds a frame as `build_frame` makes it. `time_ps`: simulated time in picoseconds, not negative, rounded down to
    /// nanoseconds. Frames must come in the order in which they shall be in the file.
    const std::string& append(std::int64_t time_ps, std::span<const std::uint8_t> frame) noexcept;

    /// Hands everything buffered to the operating system, so that a reader sees it.
    const std::string& flush() noexcept;

    /// Flushes and closes. Closing what is not open does nothing.
    std::string close() noexcept;

    [[nodiscard]] bool is_open() const noexcept { return fd_ >= 0; }
    [[nodiscard]] const std::string& error() const noexcept { return error_; }
    [[nodiscard]] std::uint64_t frames() const noexcept { return frames_; }

  private:
    void write_all(const std::uint8_t* data, std::size_t bytes) noexcept;
    void put_erf_header(std::int64_t nanoseconds, std::size_t frame_bytes);
    void put_le(std::uint64_t value, std::size_t bytes);
    void put_be16(std::size_t value);
    void fail(const char* what, int error_number) noexcept;

    int fd_ = -1;
    PcapLinkType link_type_ = PcapLinkType::Ethernet;
    std::string path_;
    std::string error_;
    std::vector<std::uint8_t> buffer_;
    std::uint64_t frames_ = 0;
};

}  // namespace simverbs::wire
