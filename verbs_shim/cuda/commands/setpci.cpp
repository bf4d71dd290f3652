#include <strings.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "verbs_shim/cuda/commands/commands.hpp"

namespace simverbs::cuda::commands {

using protocol::PciInfo;
using protocol::PciKind;

namespace {

constexpr char kAcs[] = "ECAP_ACS";
constexpr long kAcsControlOffset = 6;
constexpr unsigned kAcsCapability = 0x0d, kAcsAt = 0x100;

int refuse(const char* what) {
    std::fprintf(stderr,
                 "setpci: %s: simulated hosts know the register ECAP_ACS+6.w (ACS Control) alone: setpci [-v] -s SLOT "
                 "ECAP_ACS+6.w[=VALUE]\n",
                 what);
    return 1;
}

struct Operation {
    bool writes = false;
    uint32_t value = 0, mask = 0xFFFF;
};

/// "ECAP_ACS+0x6.w=001d", "ECAP_ACS+6.w=0000:0004".
bool parse(const char* text, Operation& o) {
    if (strncasecmp(text, kAcs, sizeof kAcs - 1) != 0 || text[sizeof kAcs - 1] != '+') return false;
    char* end = nullptr;
    if (std::strtol(text + sizeof kAcs, &end, 16) != kAcsControlOffset) return false;
    if (strncasecmp(end, ".w", 2) != 0) return false;
    end += 2;
    if (*end == '\0') return true;
    if (*end != '=' || end[1] == '\0') return false;
    o.writes = true;
    o.value = static_cast<uint32_t>(std::strtoul(end + 1, &end, 16));
    if (*end == ':' && end[1] != '\0') o.mask = static_cast<uint32_t>(std::strtoul(end + 1, &end, 16));
    return *end == '\0' && o.value <= 0xFFFF && o.mask <= 0xFFFF;
}

int run(const Operation& o, const PciInfo& f, size_t place, bool verbose) {
    if (f.kind != PciKind::DownstreamPort) {
        std::fprintf(stderr, "setpci: %04x:%02x:%02x.%x: Instance #0 of Extended Capability %04x not found\n", f.domain,
                     f.bus, f.device, f.function, kAcsCapability);
        return 1;
    }
    if (verbose)
        std::printf("%04x:%02x:%02x.%x (ecap %02x @%02x) @%02lx%s ", f.domain, f.bus, f.device, f.function,
                    kAcsCapability, kAcsAt, kAcsAt + kAcsControlOffset, o.writes ? "" : " =");
    if (!o.writes) {
        std::printf("%04x\n", f.acs_control);
        return 0;
    }
    const uint32_t value = (f.acs_control & ~o.mask) | (o.value & o.mask);
    if (verbose) std::printf("%04x\n", value);
    GpuRequest r = make_request(GpuCall::AcsControl, 0);
    r.value = place;
    r.flags = value;
    return ask(r) == 0 ? 0 : 1;
}

}  // namespace

int setpci(int argc, char** argv) {
    bool verbose = false, chosen = false;
    SlotFilter filter;
    std::vector<Operation> operations;
    for (int i = 1; i < argc; ++i) {
        const std::string_view word = argv[i];
        if (word == "-v") {
            verbose = true;
        } else if (word.substr(0, 2) == "-s") {
            const char* const slot = word.size() > 2 ? argv[i] + 2 : argv[++i];
            if (slot == nullptr || !filter.parse(slot)) return refuse(slot == nullptr ? "-s" : slot);
            chosen = true;
        } else {
            Operation o;
            if (!parse(argv[i], o)) return refuse(argv[i]);
            operations.push_back(o);
        }
    }
    if (!chosen || operations.empty()) return refuse(chosen ? "no register" : "no -s SLOT");
    bool found = false;
    int result = 0;
    for (const Operation& o : operations) {
        const std::vector<PciInfo> all = pci_functions();
        for (size_t place = 0; place < all.size(); ++place) {
            if (!filter.takes(all[place])) continue;
            found = true;
            result |= run(o, all[place], place, verbose);
        }
    }
    if (!found) std::fprintf(stderr, "setpci: no PCI function is there: lspci lists them\n");
    return found ? result : 1;
}

}  // namespace simverbs::cuda::commands
