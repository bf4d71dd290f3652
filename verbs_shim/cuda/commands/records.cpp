// What several commands need: the server's records, names of slots.
#include <sys/types.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "verbs_shim/cuda/commands/commands.hpp"

namespace simverbs::cuda::commands {

namespace {

template <class Record>
std::vector<Record> records_of(GpuCall call) {
    GpuRequest r = make_request(call, 0);
    GpuReply reply;
    int fd = -1;
    std::vector<Record> records;
    if (calls()->request(&r, &reply, &fd) != 0 || fd < 0) return records;
    for (Record record; ::pread(fd, &record, sizeof record, static_cast<off_t>(records.size() * sizeof record)) ==
                        static_cast<ssize_t>(sizeof record);)
        records.push_back(record);
    ::close(fd);
    return records;
}

/// A hexadecimal number; -1 for any. False: neither.
bool parse_part(const std::string& text, long& part) {
    part = -1;
    if (text.empty() || text == "*") return true;
    char* end = nullptr;
    part = std::strtol(text.c_str(), &end, 16);
    return *end == '\0' && part >= 0;
}

}  // namespace

std::vector<protocol::PciInfo> pci_functions() {
    return records_of<protocol::PciInfo>(GpuCall::PciFunctions);
}

std::vector<protocol::NumaInfo> numa_nodes() {
    return records_of<protocol::NumaInfo>(GpuCall::NumaNodes);
}

bool SlotFilter::parse(const char* text) {
    std::string rest = text, domain, bus;
    if (const size_t colon = rest.rfind(':'); colon != std::string::npos) {
        bus = rest.substr(0, colon);
        rest.erase(0, colon + 1);
        if (const size_t first = bus.rfind(':'); first != std::string::npos) {
            domain = bus.substr(0, first);
            bus.erase(0, first + 1);
        }
    }
    const size_t dot = rest.find('.');
    const std::string function = dot == std::string::npos ? "" : rest.substr(dot + 1);
    return parse_part(domain, domain_) && parse_part(bus, bus_) && parse_part(rest.substr(0, dot), device_) &&
           parse_part(function, function_);
}

}  // namespace simverbs::cuda::commands
