#include "models/wire/pcap_writer.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

namespace simverbs::wire {
namespace {

// Files are little-endian on every machine, so that equal runs give equal bytes.
constexpr std::uint32_t kNanosecondMagic = 0xA1B23C4D;
constexpr std::uint32_t kMajorVersion = 2;
constexpr std::uint32_t kMinorVersion = 4;
constexpr std::size_t kBufferBytes = 256 * 1024;
constexpr std::size_t kRecordHeaderBytes = 16;
// ERF record header (Endace, "ERF Types Reference"): time in 2^-32 s, type, flags, record length, loss, frame length.
constexpr std::size_t kErfHeaderBytes = 16;
constexpr std::uint8_t kErfTypeInfiniband = 21;
constexpr std::uint8_t kErfVaryingLength = 0x04;
constexpr std::int64_t kPicosecondsPerNanosecond = 1000;
constexpr std::int64_t kNanosecondsPerSecond = 1'000'000'000;
constexpr std::int64_t kMaxSeconds = 0xFFFF'FFFF;

}  // namespace

PcapWriter::PcapWriter(PcapWriter&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      link_type_(other.link_type_),
      path_(std::move(other.path_)),
      error_(std::move(other.error_)),
      buffer_(std::move(other.buffer_)),
      frames_(std::exchange(other.frames_, 0)) {
    other.buffer_.clear();
}

PcapWriter& PcapWriter::operator=(PcapWriter&& other) noexcept {
    if (this == &other) return *this;
    close();
    fd_ = std::exchange(other.fd_, -1);
    link_type_ = other.link_type_;
    path_ = std::move(other.path_);
    error_ = std::move(other.error_);
    buffer_ = std::move(other.buffer_);
    other.buffer_.clear();
    frames_ = std::exchange(other.frames_, 0);
    return *this;
}

PcapWriter::~PcapWriter() {
    close();
}

std::string PcapWriter::open(const std::string& path, PcapLinkType link_type) noexcept try {
    close();
    path_ = path;
    link_type_ = link_type;
    error_.clear();
    buffer_.clear();
    buffer_.reserve(kBufferBytes);
    frames_ = 0;
    fd_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd_ < 0) {
        fail("cannot create", errno);
        return error_;
    }
    put_le(kNanosecondMagic, 4);
    put_le(kMajorVersion, 2);
    put_le(kMinorVersion, 2);
    put_le(0, 4);  // time zone: UTC
    put_le(0, 4);  // accuracy: not stated, as everyone does
    put_le(kSnapLength, 4);
    put_le(static_cast<std::uint32_t>(link_type), 4);
    return error_;
} catch (const std::bad_alloc&) {
    fail("cannot create", ENOMEM);
    return error_;
}

const std::string& PcapWriter::append(std::int64_t time_ps, std::span<const std::uint8_t> frame) noexcept try {
    if (!error_.empty()) return error_;
    const std::int64_t nanoseconds = time_ps / kPicosecondsPerNanosecond;
    const std::int64_t seconds = nanoseconds / kNanosecondsPerSecond;
    if (fd_ < 0) {
        fail("cannot write to", EBADF);
    } else if (time_ps < 0 || seconds > kMaxSeconds) {
        fail("time out of range in", ERANGE);
    } else if (frame.size() > kMaxFrameBytes) {
        fail("frame too long for", EMSGSIZE);
    }
    if (!error_.empty()) return error_;
    if (buffer_.size() + kRecordHeaderBytes + kErfHeaderBytes + frame.size() > kBufferBytes) flush();
    if (!error_.empty()) return error_;

    const bool erf = link_type_ == PcapLinkType::InfiniBand;
    const std::size_t length = frame.size() + (erf ? kErfHeaderBytes : 0);
    put_le(static_cast<std::uint64_t>(seconds), 4);
    put_le(static_cast<std::uint64_t>(nanoseconds % kNanosecondsPerSecond), 4);
    put_le(length, 4);
    put_le(length, 4);
    if (erf) put_erf_header(nanoseconds, frame.size());
    buffer_.insert(buffer_.end(), frame.begin(), frame.end());
    ++frames_;
    return error_;
} catch (const std::bad_alloc&) {
    fail("cannot write to", ENOMEM);
    return error_;
}

const std::string& PcapWriter::flush() noexcept {
    if (fd_ >= 0 && error_.empty()) write_all(buffer_.data(), buffer_.size());
    buffer_.clear();
    return error_;
}

std::string PcapWriter::close() noexcept {
    if (fd_ < 0) return error_;
    flush();
    const int fd = std::exchange(fd_, -1);
    // EINTR leaves the descriptor closed on Linux; nothing is lost by it.
    if (::close(fd) != 0 && errno != EINTR && error_.empty()) fail("cannot close", errno);
    return error_;
}

void PcapWriter::write_all(const std::uint8_t* data, std::size_t bytes) noexcept {
    while (bytes != 0) {
        const ssize_t written = ::write(fd_, data, bytes);
        if (written < 0) {
            if (errno == EINTR) continue;
            fail("cannot write to", errno);
            return;
        }
        data += written;
        bytes -= static_cast<std::size_t>(written);
    }
}

void PcapWriter::put_erf_header(std::int64_t nanoseconds, std::size_t frame_bytes) {
    const auto seconds = static_cast<std::uint64_t>(nanoseconds / kNanosecondsPerSecond);
    const auto rest = static_cast<std::uint64_t>(nanoseconds % kNanosecondsPerSecond);
    // Rounded to the nearest step of 0.23 ns, so that a reader gets the same nanosecond back.
    const std::uint64_t fraction = ((rest << 32) + kNanosecondsPerSecond / 2) / kNanosecondsPerSecond;
    put_le((seconds << 32) + fraction, 8);
    buffer_.push_back(kErfTypeInfiniband);
    buffer_.push_back(kErfVaryingLength);
    put_be16(kErfHeaderBytes + frame_bytes);
    put_be16(0);
    put_be16(frame_bytes);
}

void PcapWriter::put_le(std::uint64_t value, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) buffer_.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}

void PcapWriter::put_be16(std::size_t value) {
    buffer_.push_back(static_cast<std::uint8_t>(value >> 8));
    buffer_.push_back(static_cast<std::uint8_t>(value));
}

void PcapWriter::fail(const char* what, int error_number) noexcept try {
    error_ = std::string("capture: ") + what + " " + path_ + ": " + std::strerror(error_number);
} catch (const std::bad_alloc&) {
    error_ = "out of memory";  // fits the small-string buffer
}

}  // namespace simverbs::wire
