#include "models/host/check_platform.hpp"

#include <fmt/format.h>

#include <set>

#include "models/pcie/link_rates.hpp"

namespace simverbs::host {

namespace {

/// One pass over a platform, collecting.
class PlatformCheck {
  public:
    explicit PlatformCheck(const PlatformSpec& p) : p_(p) {}

    std::vector<PlatformProblem> run() {
        expect(!p_.numa_nodes.empty(), "numa_nodes", "there are none; a host has at least one");
        expect(!p_.bridges.empty(), "bridges", "there are none; devices hang below a host bridge");
        check_lengths();
        check_memory();
        check_tree();
        check_devices();
        check_nvlink();
        if (problems_.empty()) check_numa_ways();
        return std::move(problems_);
    }

  private:
    void expect(bool fine, std::string where, std::string problem) {
        if (!fine) problems_.push_back({std::move(where), std::move(problem)});
    }
    void expect_name(const std::string& name, const std::string& where) {
        expect(!name.empty(), where + ".name", "it has no name");
        expect(name.empty() || names_.insert(name).second, where + ".name",
               fmt::format("something else is called '{}', too", name));
    }
    void expect_rate(sim::BitRate rate, const std::string& where) {
        expect(rate.in_bps() > 0, where, "a rate is more than 0");
    }
    void expect_index(size_t index, size_t count, const std::string& where, const char* what) {
        expect(index < count, where, fmt::format("there is no {} {}: there are {}", what, index, count));
    }
    void expect_link(const pcie::LinkSpec& l, const std::string& where) {
        expect(pcie::is_generation(l.generation), where,
               fmt::format("PCIe generation {} is not known: 1 to {}", l.generation, pcie::kGenerations.size()));
        expect(pcie::is_width(l.lanes), where, fmt::format("no link has {} lanes: 1, 2, 4, 8 or 16", l.lanes));
        expect(pcie::is_payload_size(l.max_payload), where,
               fmt::format("MPS is not {}: 128, 256, 512, 1024, 2048 or 4096 bytes", l.max_payload));
    }
    void check_lengths() {
        const auto check = [&](size_t length, const char* list) {
            expect(length <= kMostInAList, list,
                   fmt::format("there are {}; at most {} are possible", length, kMostInAList));
        };
        check(p_.numa_nodes.size(), "numa_nodes");
        check(p_.numa_links.size(), "numa_links");
        check(p_.bridges.size(), "bridges");
        check(p_.switches.size(), "switches");
        check(p_.nics.size(), "nics");
        check(p_.gpus.size(), "gpus");
        check(p_.nvlink.links.size(), "nvlink.links");
    }
    void check_memory() {
        for (size_t i = 0; i < p_.numa_nodes.size(); ++i) {
            const std::string where = fmt::format("numa_nodes[{}]", i);
            expect_name(p_.numa_nodes[i].name, where);
            expect_rate(p_.numa_nodes[i].rate, where + ".rate");
        }
        for (size_t i = 0; i < p_.numa_links.size(); ++i) {
            const NumaLinkSpec& l = p_.numa_links[i];
            const std::string where = fmt::format("numa_links[{}]", i);
            expect_index(l.a, p_.numa_nodes.size(), where, "NUMA node");
            expect_index(l.b, p_.numa_nodes.size(), where, "NUMA node");
            expect(l.a != l.b, where, "it joins a node with itself");
            expect_rate(l.rate, where + ".rate");
            expect_rate(l.peer_rate, where + ".peer_rate");
        }
    }
    void check_tree() {
        for (size_t i = 0; i < p_.bridges.size(); ++i) {
            const HostBridgeSpec& b = p_.bridges[i];
            const std::string where = fmt::format("bridges[{}]", i);
            expect_name(b.name, where);
            expect_index(b.numa_node, p_.numa_nodes.size(), where + ".numa_node", "NUMA node");
            expect_rate(b.peer_write_rate, where + ".peer_write_rate");
            expect_rate(b.peer_read_rate, where + ".peer_read_rate");
            expect(b.completion >= 64, where + ".completion", "a completion has at least 64 bytes (RCB)");
        }
        for (size_t i = 0; i < p_.switches.size(); ++i) {
            const SwitchSpec& s = p_.switches[i];
            const std::string where = fmt::format("switches[{}]", i);
            expect_name(s.name, where);
            expect_link(s.slot, where + ".slot");
            // Listed above before below: so there are no rings.
            expect_upstream(s.upstream, i, where);
        }
    }
    void expect_upstream(const UpstreamSpec& up, size_t switches, const std::string& where) {
        const bool is_switch = up.kind == UpstreamSpec::Kind::Switch;
        if (is_switch)
            expect(up.index < switches, where + ".under", fmt::format("switch {} is not listed before it", up.index));
        else
            expect_index(up.index, p_.bridges.size(), where + ".under", "host bridge");
    }
    void check_device(const DeviceSlotSpec& d, const std::string& where) {
        expect_name(d.name, where);
        expect_link(d.slot, where + ".slot");
        expect_link(d.device, where + ".device");
        expect(pcie::is_payload_size(d.max_read_request), where + ".max_read_request",
               fmt::format("MRRS is not {}: 128, 256, 512, 1024, 2048 or 4096 bytes", d.max_read_request));
        expect_upstream(d.upstream, p_.switches.size(), where);
    }
    void check_devices() {
        for (size_t i = 0; i < p_.nics.size(); ++i) check_device(p_.nics[i], fmt::format("nics[{}]", i));
        for (size_t i = 0; i < p_.gpus.size(); ++i) {
            const GpuSpec& g = p_.gpus[i];
            const std::string where = fmt::format("gpus[{}]", i);
            check_device(g, where);
            expect_rate(g.hbm_rate, where + ".memory_rate");
            expect_rate(g.bar_read_rate, where + ".bar_read_rate");
            expect(g.copy_engines > 0, where + ".copy_engines", "a GPU has at least one");
        }
    }
    void check_nvlink() {
        for (size_t i = 0; i < p_.nvlink.links.size(); ++i) {
            const NvLinkSpec& l = p_.nvlink.links[i];
            const std::string where = fmt::format("nvlink.links[{}]", i);
            expect_index(l.a, p_.gpus.size(), where, "GPU");
            expect_index(l.b, p_.gpus.size(), where, "GPU");
            expect(l.a != l.b && l.links > 0, where, "NVLinks join two GPUs");
        }
        expect_rate(p_.nvlink.link_rate, "nvlink.link_rate");
        expect(p_.iommu.page_bytes >= 4096, "iommu.page", "a page has at least 4096 bytes");
    }
    /// Every node reaches every other.
    void check_numa_ways() {
        std::vector<bool> seen(p_.numa_nodes.size());
        std::vector<uint16_t> open = {0};
        seen[0] = true;
        while (!open.empty()) {
            const uint16_t at = open.back();
            open.pop_back();
            for (const NumaLinkSpec& l : p_.numa_links)
                for (const auto& [from, to] : {std::pair{l.a, l.b}, std::pair{l.b, l.a}})
                    if (from == at && !seen[to]) {
                        seen[to] = true;
                        open.push_back(to);
                    }
        }
        for (size_t i = 0; i < seen.size(); ++i)
            expect(
                seen[i], fmt::format("numa_nodes[{}]", i),
                fmt::format("no way of numa_links leads from {} to {}", p_.numa_nodes[0].name, p_.numa_nodes[i].name));
    }

    const PlatformSpec& p_;
    std::set<std::string> names_;
    std::vector<PlatformProblem> problems_;
};

}  // namespace

std::vector<PlatformProblem> check_platform(const PlatformSpec& platform) {
    return PlatformCheck(platform).run();
}

}  // namespace simverbs::host
