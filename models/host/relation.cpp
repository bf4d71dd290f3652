#include "models/host/relation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "models/host/ancestry.hpp"
#include "models/pcie/link_rates.hpp"

namespace simverbs::host {

namespace {

/// Switches above a device, nearest first, and the bridge above them all.
struct Ancestry {
    std::vector<uint16_t> switches;
    uint16_t bridge = 0;
};

[[nodiscard]] Ancestry ancestry(const PlatformSpec& p, AgentId a) {
    return {switches_above(p, a), bridge_above(p, slot_of(p, a).upstream)};
}

/// NVLinks that two agents have between them: 0 unless both are GPUs.
[[nodiscard]] uint8_t nvlinks_between(const PlatformSpec& p, AgentId a, AgentId b) {
    if (a < p.nics.size() || b < p.nics.size()) return 0;
    if (p.nvlink.switched_links > 0) return p.nvlink.switched_links;
    const auto g = a - p.nics.size(), h = b - p.nics.size();
    for (const NvLinkSpec& l : p.nvlink.links)
        if ((l.a == g && l.b == h) || (l.a == h && l.b == g)) return l.links;
    return 0;
}

}  // namespace

std::string to_string(const pcie::LinkSpec& link) {
    return fmt::format("gen{} x{}", link.generation, link.lanes);
}

std::string to_string(Relation r) {
    switch (r.distance) {
        case Distance::Self:
            return "X";
        case Distance::NvLink:
            return fmt::format("NV{}", r.nvlinks);
        case Distance::Pix:
            return "PIX";
        case Distance::Pxb:
            return "PXB";
        case Distance::Phb:
            return "PHB";
        case Distance::Node:
            return "NODE";
        case Distance::Sys:
            return "SYS";
    }
    return "?";
}

Relation relation_between(const PlatformSpec& p, AgentId a, AgentId b) {
    if (a == b) return {Distance::Self};
    if (const uint8_t n = nvlinks_between(p, a, b); n > 0) return {Distance::NvLink, n};
    const Ancestry x = ancestry(p, a), y = ancestry(p, b);
    const auto common = std::ranges::find_first_of(x.switches, y.switches);
    if (common != x.switches.end()) {
        const auto above_b = std::ranges::find(y.switches, *common) - y.switches.begin();
        return {(common - x.switches.begin()) + above_b == 0 ? Distance::Pix : Distance::Pxb};
    }
    if (x.bridge == y.bridge) return {Distance::Phb};
    return {p.bridges[x.bridge].numa_node == p.bridges[y.bridge].numa_node ? Distance::Node : Distance::Sys};
}

std::string relation_matrix(const PlatformSpec& p) {
    std::vector<AgentId> order;
    const auto nics = static_cast<AgentId>(p.nics.size()), all = static_cast<AgentId>(nics + p.gpus.size());
    for (AgentId a = nics; a < all; ++a) order.push_back(a);
    for (AgentId a = 0; a < nics; ++a) order.push_back(a);
    std::string text = fmt::format("{:8}", "");
    for (const AgentId a : order) text += fmt::format(" {:>6}", slot_of(p, a).name);
    text += '\n';
    for (const AgentId a : order) {
        text += fmt::format("{:8}", slot_of(p, a).name);
        for (const AgentId b : order) text += fmt::format(" {:>6}", to_string(relation_between(p, a, b)));
        text += '\n';
    }
    return text;
}

namespace {

/// Draws a platform's tree.
class TreeText {
  public:
    explicit TreeText(const PlatformSpec& p) : p_(p) {}

    std::string draw() {
        text_ = fmt::format("{}: {}\n", p_.name, p_.description);
        for (uint16_t n = 0; n < count_of(p_.numa_nodes); ++n) {
            const NumaNodeSpec& node = p_.numa_nodes[n];
            text_ += fmt::format("{} (socket {}, {} GiB, {} Gb/s)\n", node.name, node.socket, node.bytes >> 30,
                                 node.rate.in_bps() / 1'000'000'000);
            std::vector<uint16_t> bridges;
            for (uint16_t b = 0; b < count_of(p_.bridges); ++b)
                if (p_.bridges[b].numa_node == n) bridges.push_back(b);
            for (const uint16_t b : bridges) {
                const bool last = b == bridges.back();
                text_ += fmt::format("{}{}\n", last ? kCorner : kBranch, p_.bridges[b].name);
                draw_below({UpstreamSpec::Kind::HostBridge, b}, last ? kBlank : kStem);
            }
        }
        return std::move(text_);
    }

  private:
    static constexpr const char* kBranch = "+- ";
    static constexpr const char* kCorner = "`- ";
    static constexpr const char* kStem = "|  ";
    static constexpr const char* kBlank = "   ";

    static bool same(const UpstreamSpec& a, const UpstreamSpec& b) { return a.kind == b.kind && a.index == b.index; }

    void draw_below(UpstreamSpec above, const std::string& indent) {
        std::vector<uint16_t> switches;
        std::vector<AgentId> agents;
        for (uint16_t s = 0; s < count_of(p_.switches); ++s)
            if (same(p_.switches[s].upstream, above)) switches.push_back(s);
        for (AgentId a = 0; a < count_of(p_.nics) + count_of(p_.gpus); ++a)
            if (same(slot_of(p_, a).upstream, above)) agents.push_back(a);
        for (const uint16_t s : switches) {
            const bool last = agents.empty() && s == switches.back();
            const SwitchSpec& sw = p_.switches[s];
            text_ += fmt::format("{}{}{}  {}{}\n", indent, last ? kCorner : kBranch, sw.name, to_string(sw.slot),
                                 sw.acs ? "  ACS" : "");
            draw_below({UpstreamSpec::Kind::Switch, s}, indent + (last ? kBlank : kStem));
        }
        for (const AgentId a : agents)
            text_ += fmt::format("{}{}{}\n", indent, a == agents.back() ? kCorner : kBranch, device_text(a));
    }
    [[nodiscard]] std::string device_text(AgentId a) const {
        const DeviceSlotSpec& d = slot_of(p_, a);
        const pcie::LinkSpec link = pcie::trained(d.slot, d.device);
        std::string line = fmt::format("{}  {}", d.name, to_string(link));
        // As lspci -vv says it of LnkSta.
        if (link.generation < d.device.generation || link.lanes < d.device.lanes)
            line += fmt::format(" (downgraded: the device can do {})", to_string(d.device));
        if (a >= p_.nics.size()) {
            const GpuSpec& g = p_.gpus[a - p_.nics.size()];
            line += fmt::format("  {}, {} GiB", g.model, g.hbm_bytes >> 30);
        }
        return line;
    }

    const PlatformSpec& p_;
    std::string text_;
};

}  // namespace

std::string describe(const PlatformSpec& platform) {
    return TreeText(platform).draw();
}

}  // namespace simverbs::host
