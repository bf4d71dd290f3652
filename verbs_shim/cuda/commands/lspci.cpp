#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include "verbs_shim/cuda/commands/commands.hpp"

namespace simverbs::cuda::commands {

using protocol::PciInfo;
using protocol::PciKind;

namespace {

using Functions = std::vector<PciInfo>;

bool is_port(const PciInfo& f) {
    return f.kind != PciKind::Nic && f.kind != PciKind::Gpu;
}

std::string hexadecimal(const char* format, unsigned number) {
    char text[16];
    (void)std::snprintf(text, sizeof text, format, number);
    return text;
}

std::string place_of(const PciInfo& f) {
    return hexadecimal("%02x", f.device) + "." + hexadecimal("%x", f.function);
}

std::string address_of(const PciInfo& f, bool with_domain) {
    return (with_domain ? hexadecimal("%04x:", f.domain) : "") + hexadecimal("%02x:", f.bus) + place_of(f);
}

/// The product's name without a vendor's that comes first.
std::string without_vendor(std::string_view product) {
    constexpr std::string_view kVendor = "NVIDIA ";
    if (product.substr(0, kVendor.size()) == kVendor) product.remove_prefix(kVendor.size());
    return std::string(product);
}

std::string title_of(const PciInfo& f) {
    const std::string slot = f.slot;
    switch (f.kind) {
        case PciKind::RootPort:
            return "PCI bridge: simverbs root port of " + slot;
        case PciKind::UpstreamPort:
            return "PCI bridge: simverbs PCIe switch " + slot + ", upstream port";
        case PciKind::DownstreamPort:
            return "PCI bridge: simverbs PCIe switch " + slot + ", downstream port";
        case PciKind::Nic:
            return "Infiniband controller: simverbs adapter " + std::string(f.device_name);
        case PciKind::Gpu:
            return "3D controller: NVIDIA Corporation " + without_vendor(f.product);
    }
    return slot;
}

const char* port_type_of(const PciInfo& f) {
    switch (f.kind) {
        case PciKind::RootPort:
            return "Root Port (Slot+)";
        case PciKind::UpstreamPort:
            return "Upstream Port";
        case PciKind::DownstreamPort:
            return "Downstream Port (Slot+)";
        case PciKind::Nic:
        case PciKind::Gpu:
            break;
    }
    return "Endpoint";
}

void print_acs(const char* name, uint32_t bits) {
    static constexpr const char* kNames[] = {"SrcValid",    "TransBlk",   "ReqRedir",   "CmpltRedir",
                                             "UpstreamFwd", "EgressCtrl", "DirectTrans"};
    std::printf("\t\t%s:\t", name);
    for (unsigned i = 0; i < std::size(kNames); ++i)
        std::printf("%s%s%c", i == 0 ? "" : " ", kNames[i], (bits >> i & 1) != 0 ? '+' : '-');
    std::printf("\n");
}

void print_capabilities(const PciInfo& f) {
    std::printf("\tCapabilities: [60] Express (v2) %s, MSI 00\n", port_type_of(f));
    std::printf("\t\tDevCtl:\tMaxPayload %u bytes", f.max_payload);
    if (f.max_read_request != 0) std::printf(", MaxReadReq %u bytes", f.max_read_request);
    std::printf("\n");
    for (const char* at = f.link; *at != '\0';) {
        const char* const end = std::strchr(at, '\n');
        const std::string line(at, end == nullptr ? std::strlen(at) : static_cast<size_t>(end - at));
        const size_t colon = line.find(": ");
        std::printf("\t\t%s:\t%s\n", line.substr(0, colon).c_str(), line.substr(colon + 2).c_str());
        at = end == nullptr ? "" : end + 1;
    }
    if (f.kind != PciKind::DownstreamPort) return;
    std::printf("\tCapabilities: [100 v1] Access Control Services\n");
    print_acs("ACSCap", protocol::kAcsCapable);
    print_acs("ACSCtl", f.acs_control);
}

void print_details(const PciInfo& f, int verbose) {
    if (f.kind == PciKind::Nic) std::printf("\tSubsystem: simverbs %s\n", f.device_name);
    if (!is_port(f)) std::printf("\tPhysical Slot: %s\n", f.slot);
    std::printf("\tNUMA node: %d\n", f.numa_node);
    if (is_port(f))
        std::printf("\tBus: primary=%02x, secondary=%02x, subordinate=%02x, sec-latency=0\n", f.bus, f.first_bus,
                    f.last_bus);
    if (verbose > 1) print_capabilities(f);
    const char* const driver = is_port(f) ? "pcieport" : f.kind == PciKind::Gpu ? "nvidia" : "mlx5_core";
    std::printf("\tKernel driver in use: %s\n\n", driver);
}

/// lspci -t. `prefix`: what the line so far has above what follows it.
class Tree {
  public:
    explicit Tree(const Functions& all) : all_(all) {}

    void print() const {
        std::vector<size_t> roots;  // a port of each root bus
        for (size_t i = 0; i < all_.size(); ++i) {
            if (all_[i].above != UINT32_MAX) continue;
            if (!roots.empty() && bus_of(roots.back()) == bus_of(i)) continue;
            roots.push_back(i);
        }
        for (size_t n = roots.size(); n-- > 0;) {
            const PciInfo& f = all_[roots[n]];
            const bool first = n + 1 == roots.size(), last = n == 0;
            const char* const branch = first && last ? "-" : first ? "-+-" : last ? " \\-" : " +-";
            const std::string bus = "[" + hexadecimal("%04x:", f.domain) + hexadecimal("%02x]", f.bus);
            const std::string above = first && last ? " " : last ? "   " : " | ";
            std::printf("%s%s", branch, bus.c_str());
            print_bus(children(UINT32_MAX, bus_of(roots[n])), above + std::string(bus.size(), ' '));
        }
    }

  private:
    [[nodiscard]] uint64_t bus_of(size_t i) const { return uint64_t{all_[i].domain} << 32 | all_[i].bus; }
    [[nodiscard]] std::vector<size_t> children(uint32_t above, uint64_t bus) const {
        std::vector<size_t> found;
        for (size_t i = 0; i < all_.size(); ++i)
            if (all_[i].above == above && (above != UINT32_MAX || bus_of(i) == bus)) found.push_back(i);
        return found;
    }
    void print_bus(const std::vector<size_t>& on_bus, const std::string& prefix) const {
        if (on_bus.empty()) std::printf("\n");
        for (size_t n = 0; n < on_bus.size(); ++n) {
            const PciInfo& f = all_[on_bus[n]];
            const bool last = n + 1 == on_bus.size();
            if (n > 0) std::printf("%s", prefix.c_str());
            std::printf("%s", on_bus.size() == 1 ? "---" : n == 0 ? "-+-" : last ? " \\-" : " +-");
            std::string text = place_of(f);
            std::string below;
            if (is_port(f)) {
                below = hexadecimal("-[%02x", f.first_bus);
                if (f.last_bus != f.first_bus) below += hexadecimal("-%02x", f.last_bus);
                below += "]-";
            }
            text += below;
            std::printf("%s", text.c_str());
            const std::string above = prefix + (last ? "   " : " | ") + std::string(text.size(), ' ');
            print_bus(is_port(f) ? children(static_cast<uint32_t>(on_bus[n]), 0) : std::vector<size_t>{}, above);
        }
    }

    const Functions& all_;
};

int refuse(const char* what) {
    std::fprintf(stderr, "lspci: %s: simulated hosts know -v, -vv, -t, -D, -s SLOT and -d *:*:*\n", what);
    return 1;
}

}  // namespace

int lspci(int argc, char** argv) {
    int verbose = 0;
    bool tree = false, with_domain = false;
    SlotFilter filter;
    for (int i = 1; i < argc; ++i) {
        const std::string_view word = argv[i];
        if (word.size() < 2 || word[0] != '-') return refuse(argv[i]);
        for (size_t at = 1; at < word.size(); ++at) {
            const char option = word[at];
            if (option == 's' || option == 'd') {
                const char* const value = at + 1 < word.size() ? argv[i] + at + 1 : argv[++i];
                if (value == nullptr) return refuse(word.data());
                const bool known = option == 's' ? filter.parse(value) : std::strspn(value, "*:") == std::strlen(value);
                if (!known) return refuse(value);
                break;
            }
            if (option == 'v') {
                ++verbose;
            } else if (option == 't') {
                tree = true;
            } else if (option == 'D') {
                with_domain = true;
            } else {
                return refuse(argv[i]);
            }
        }
    }
    const Functions all = pci_functions();
    if (tree) {
        Tree(all).print();
        return 0;
    }
    for (const PciInfo& f : all) with_domain |= f.domain != 0;
    for (const PciInfo& f : all) {
        if (!filter.takes(f)) continue;
        std::printf("%s %s\n", address_of(f, with_domain).c_str(), title_of(f).c_str());
        if (verbose > 0) print_details(f, verbose);
    }
    return 0;
}

}  // namespace simverbs::cuda::commands
