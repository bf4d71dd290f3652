#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "verbs_shim/cuda/commands/commands.hpp"

namespace simverbs::cuda::commands {

using protocol::NumaInfo;

namespace {

using Nodes = std::vector<NumaInfo>;

int refuse(const char* what) {
    std::fprintf(stderr,
                 "numactl: %s: simulated hosts know --hardware, --show, and [--cpunodebind NODE] [--membind NODE] "
                 "COMMAND, with one node each (numactl --hardware shows them)\n",
                 what);
    return 1;
}

/// One node of the host, or "all": -1.
bool parse_node(const char* text, const Nodes& nodes, int& node) {
    node = -1;
    if (std::strcmp(text, "all") == 0) return true;
    char* end = nullptr;
    const long number = std::strtol(text, &end, 10);
    if (end == text || *end != '\0' || number < 0 || number >= static_cast<long>(nodes.size())) return false;
    node = static_cast<int>(number);
    return true;
}

int hardware(const Nodes& nodes) {
    // As firmware tables say it: 10 for a node itself, more on the same socket, most on another one.
    constexpr int kSelf = 10, kSameSocket = 12, kOtherSocket = 21;
    const std::string range = nodes.size() > 1 ? "0-" + std::to_string(nodes.size() - 1) : "0";
    std::printf("available: %zu nodes (%s)\n", nodes.size(), range.c_str());
    for (size_t n = 0; n < nodes.size(); ++n)
        std::printf("node %zu size: %llu MB\n", n, static_cast<unsigned long long>(nodes[n].bytes >> 20));
    std::printf("node distances:\nnode ");
    for (size_t n = 0; n < nodes.size(); ++n) std::printf(" %3zu ", n);
    for (size_t n = 0; n < nodes.size(); ++n) {
        std::printf("\n%3zu: ", n);
        for (size_t m = 0; m < nodes.size(); ++m)
            std::printf(" %3d ", n == m ? kSelf : nodes[n].socket == nodes[m].socket ? kSameSocket : kOtherSocket);
    }
    std::printf("\n");
    return 0;
}

std::string text_of(int node) {
    return node < 0 ? "-" : std::to_string(node);
}

int show(const Nodes& nodes) {
    const char* const value = std::getenv(protocol::kEnvNuma);
    std::string cpu = value == nullptr ? "-" : value, memory = "-";
    if (const size_t comma = cpu.find(','); comma != std::string::npos) {
        memory = cpu.substr(comma + 1);
        cpu.resize(comma);
    }
    std::string all;
    for (size_t n = 0; n < nodes.size(); ++n) all += std::to_string(n) + " ";
    std::printf("policy: %s\nnodebind: %s\nmembind: %s\n", memory == "-" ? "default" : "bind",
                cpu == "-" ? all.c_str() : cpu.c_str(), memory == "-" ? all.c_str() : memory.c_str());
    return 0;
}

}  // namespace

int numactl(int argc, char** argv) {
    const Nodes nodes = numa_nodes();
    int cpu = -1, memory = -1, at = 1;
    for (; at < argc && argv[at][0] == '-'; ++at) {
        const std::string word = argv[at];
        if (word == "--hardware" || word == "-H") return hardware(nodes);
        if (word == "--show" || word == "-s") return show(nodes);
        if (word == "--") {
            ++at;
            break;
        }
        if (word == "--localalloc" || word == "-l") continue;
        const size_t equals = word.find('=');
        const bool is_long = word.compare(0, 2, "--") == 0;
        std::string name = word.substr(0, is_long ? equals : 2);
        const char* value = nullptr;
        if (is_long && equals != std::string::npos) value = argv[at] + equals + 1;
        if (!is_long && word.size() > 2) value = argv[at] + 2;
        if (value == nullptr) value = ++at < argc ? argv[at] : "";
        const bool of_cpus = name == "--cpunodebind" || name == "-N";
        if (!of_cpus && name != "--membind" && name != "-m" && name != "--preferred" && name != "-p")
            return refuse(word.c_str());
        if (!parse_node(value, nodes, of_cpus ? cpu : memory)) return refuse((name + " " + value).c_str());
    }
    if (at >= argc) return refuse("no command");
    // Memory is where its process first touches it, unless said otherwise.
    if (memory < 0) memory = cpu;
    ::setenv(protocol::kEnvNuma, (text_of(cpu) + "," + text_of(memory)).c_str(), 1);
    ::execvp(argv[at], argv + at);
    std::fprintf(stderr, "numactl: execution of `%s': %s\n", argv[at], std::strerror(errno));
    return 1;
}

}  // namespace simverbs::cuda::commands
