#include "models/host/pci_functions.hpp"

#include <fmt/format.h>

#include "models/host/ancestry.hpp"
#include "models/pcie/link_rates.hpp"
#include "sim/check.hpp"

namespace simverbs::host {

namespace {

constexpr uint32_t kBuses = 256;

/// Walks the trees below the host bridges and gives out buses.
class Enumeration {
  public:
    Enumeration(const PlatformSpec& p, bool one_domain) : p_(p), one_domain_(one_domain) {}

    /// False if a host bridge has too few buses, or a bus too few devices.
    bool run() {
        const auto bridges = count_of(p_.bridges);
        const uint32_t share = one_domain_ ? kBuses / bridges : kBuses;
        for (uint16_t b = 0; b < bridges; ++b) {
            domain_ = one_domain_ ? uint16_t{0} : b;
            const uint32_t first = one_domain_ ? b * share : 0;
            next_bus_ = first;
            fine_ &= share > 0;
            add_below({UpstreamSpec::Kind::HostBridge, b}, {});
            fine_ &= next_bus_ <= first + share;
        }
        return fine_;
    }
    std::vector<PciFunction> take() { return std::move(found_); }

  private:
    static bool same(const UpstreamSpec& a, const UpstreamSpec& b) { return a.kind == b.kind && a.index == b.index; }

    uint32_t add(PciFunction::Kind kind, uint16_t index, uint32_t bus, uint32_t device, std::optional<uint32_t> above) {
        fine_ &= device < 32;
        PciFunction f;
        f.kind = kind;
        f.index = index;
        f.address = {domain_, static_cast<uint8_t>(bus), static_cast<uint8_t>(device % 32), 0};
        f.above = above;
        found_.push_back(f);
        return static_cast<uint32_t>(found_.size() - 1);
    }
    void set_link(uint32_t f, const pcie::LinkSpec& capable, const pcie::LinkSpec& trained) {
        found_[f].capable = capable;
        found_[f].trained = trained;
    }

    /// Ports of a bridge or a switch on a bus of their own, and below each what hangs there.
    void add_below(UpstreamSpec above, std::optional<uint32_t> parent) {
        const uint32_t bus = next_bus_++;
        const bool root = above.kind == UpstreamSpec::Kind::HostBridge;
        // Device 0 of a root bus is the bridge itself.
        uint32_t device = root ? 1 : 0;
        const auto port = [&](const pcie::LinkSpec& slot, const pcie::LinkSpec& trained) {
            const auto kind = root ? PciFunction::Kind::RootPort : PciFunction::Kind::DownstreamPort;
            const uint32_t f = add(kind, above.index, bus, device++, parent);
            set_link(f, slot, trained);
            found_[f].first_bus = static_cast<uint8_t>(next_bus_);
            return f;
        };
        for (uint16_t s = 0; s < count_of(p_.switches); ++s) {
            const SwitchSpec& sw = p_.switches[s];
            if (!same(sw.upstream, above)) continue;
            const uint32_t p = port(sw.slot, sw.slot);
            const uint32_t up = add(PciFunction::Kind::UpstreamPort, s, next_bus_++, 0, p);
            set_link(up, sw.slot, sw.slot);
            found_[up].first_bus = static_cast<uint8_t>(next_bus_);
            add_below({UpstreamSpec::Kind::Switch, s}, up);
            found_[up].last_bus = found_[p].last_bus = static_cast<uint8_t>(next_bus_ - 1);
        }
        const auto nics = count_of(p_.nics);
        for (AgentId a = 0; a < nics + count_of(p_.gpus); ++a) {
            const DeviceSlotSpec& d = slot_of(p_, a);
            if (!same(d.upstream, above)) continue;
            const pcie::LinkSpec trained = pcie::trained(d.slot, d.device);
            const uint32_t p = port(d.slot, trained);
            const bool nic = a < nics;
            const uint32_t f = add(nic ? PciFunction::Kind::Nic : PciFunction::Kind::Gpu,
                                   static_cast<uint16_t>(nic ? a : a - nics), next_bus_++, 0, p);
            set_link(f, d.device, trained);
            found_[p].last_bus = static_cast<uint8_t>(next_bus_ - 1);
        }
    }

    const PlatformSpec& p_;
    bool one_domain_;
    bool fine_ = true;
    uint16_t domain_ = 0;
    uint32_t next_bus_ = 0;
    std::vector<PciFunction> found_;
};

[[nodiscard]] std::string speed_text(uint8_t generation) {
    const int64_t mega = pcie::kGenerations[generation - 1U].mega_transfers;
    return mega % 1000 == 0 ? fmt::format("{}GT/s", mega / 1000)
                            : fmt::format("{:.1f}GT/s", static_cast<double>(mega) / 1000);
}

}  // namespace

std::string to_string(const PciAddress& a) {
    return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", a.domain, a.bus, a.device, a.function);
}

std::vector<PciFunction> pci_functions(const PlatformSpec& platform) {
    Enumeration together(platform, true);
    if (together.run()) return together.take();
    Enumeration apart(platform, false);
    SIM_CHECK(apart.run(), platform.nics.size(), platform.gpus.size(), platform.switches.size());
    return apart.take();
}

PciAddress address_of(const std::vector<PciFunction>& functions, const PlatformSpec& platform, AgentId agent) {
    const bool nic = agent < platform.nics.size();
    const auto kind = nic ? PciFunction::Kind::Nic : PciFunction::Kind::Gpu;
    const auto index = static_cast<uint16_t>(nic ? agent : agent - platform.nics.size());
    for (const PciFunction& f : functions)
        if (f.kind == kind && f.index == index) return f.address;
    SIM_CHECK(false, agent);
    return {};
}

std::string link_text(const PciFunction& f) {
    const auto mark = [](bool less) { return less ? " (downgraded)" : ""; };
    return fmt::format("LnkCap: Speed {}, Width x{}\nLnkSta: Speed {}{}, Width x{}{}\n",
                       speed_text(f.capable.generation), f.capable.lanes, speed_text(f.trained.generation),
                       mark(f.trained.generation < f.capable.generation), f.trained.lanes,
                       mark(f.trained.lanes < f.capable.lanes));
}

}  // namespace simverbs::host
