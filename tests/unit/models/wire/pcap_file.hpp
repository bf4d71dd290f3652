#pragma once

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

/// A classic little-endian pcap file read back for tests. `ok` is false if it is cut off or of another kind.
struct PcapFile {
    struct Record {
        std::uint32_t seconds = 0;
        std::uint32_t fraction = 0;
        std::vector<std::uint8_t> frame;
    };
    bool ok = false;
    std::uint32_t magic = 0;
    std::uint32_t link_type = 0;
    std::vector<Record> records;

    explicit PcapFile(const std::string& path) {
        std::ifstream file(path, std::ios::binary);
        const std::vector<char> raw{std::istreambuf_iterator<char>(file), {}};
        const auto u32 = [&](std::size_t at) {
            std::uint32_t value = 0;
            for (std::size_t i = 4; i-- > 0;) value = (value << 8) | static_cast<std::uint8_t>(raw[at + i]);
            return value;
        };
        if (raw.size() < 24) return;
        magic = u32(0);
        link_type = u32(20);
        if (magic != 0xA1B2C3D4 && magic != 0xA1B23C4D) return;
        std::size_t at = 24;
        while (at + 16 <= raw.size() && at + 16 + u32(at + 8) <= raw.size()) {
            const auto begin = raw.begin() + static_cast<std::ptrdiff_t>(at + 16);
            const std::uint32_t length = u32(at + 8);
            records.push_back({u32(at), u32(at + 4), {begin, begin + length}});
            at += 16 + length;
        }
        ok = at == raw.size();
    }
};
