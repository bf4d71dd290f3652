#include "tools/simverbs/listening_port.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <fstream>
#include <string>
#include <string_view>

namespace simverbs::tools {

namespace {

constexpr std::string_view kListenState = "0A";  ///< TCP_LISTEN in the column "st" of /proc/net/tcp
/// An IPv4 address as an IPv6 one (RFC 4291, ::ffff:0:0/96), in the kernel's notation of words.
constexpr std::string_view kMappedPrefix = "0000000000000000FFFF0000";

/// Lines of the file are "  sl: ADDRESS:PORT REMOTE:PORT ST …" below a heading.
bool lists_listener(const char* file, const std::string& local) {
    std::ifstream in(file);
    std::string line;
    std::getline(in, line);
    for (std::string number, address, remote, state; in >> number >> address >> remote >> state;) {
        std::getline(in, line);
        if (state == kListenState && address == local) return true;
    }
    return false;
}

}  // namespace

bool is_listening(uint32_t lab_block, uint32_t address, int port) {
    const uint32_t under = 127U << 24 | (lab_block & 0xFF) << 16 | (address & 0xFFFF);
    const std::string local = fmt::format("{:08X}:{:04X}", htonl(under), port);
    return lists_listener("/proc/net/tcp", local) ||
           lists_listener("/proc/net/tcp6", std::string(kMappedPrefix) + local);
}

}  // namespace simverbs::tools
