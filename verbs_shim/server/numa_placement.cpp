#include "verbs_shim/server/numa_placement.hpp"

#include <fmt/format.h>

#include <charconv>
#include <fstream>
#include <string>

#include "verbs_shim/protocol/pci_info.hpp"

namespace simverbs::server {

namespace {

host::MemoryId node_of(std::string_view text, uint32_t num_nodes) {
    uint32_t node = 0;
    const char* const end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, node);
    const bool is_node = error == std::errc{} && at == end && node < num_nodes;
    return is_node ? static_cast<host::MemoryId>(node) : host::kNearestMemory;
}

}  // namespace

NumaPlacement parse_numa_placement(std::string_view text, uint32_t num_nodes) {
    const size_t comma = text.find(',');
    if (comma == std::string_view::npos) return {};
    return {node_of(text.substr(0, comma), num_nodes), node_of(text.substr(comma + 1), num_nodes)};
}

NumaPlacement numa_placement_of(pid_t pid, uint32_t num_nodes) {
    std::ifstream environment(fmt::format("/proc/{}/environ", pid), std::ios::binary);
    const std::string begins = std::string(protocol::kEnvNuma) + "=";
    for (std::string entry; std::getline(environment, entry, '\0');)
        if (entry.starts_with(begins))
            return parse_numa_placement(std::string_view(entry).substr(begins.size()), num_nodes);
    return {};
}

}  // namespace simverbs::server
