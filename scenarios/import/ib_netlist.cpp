#include "scenarios/import/ib_netlist.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <utility>

#include "scenarios/import/finish_topology.hpp"
#include "scenarios/import/ib_netlist_records.hpp"

namespace simverbs::scenarios::imports {

namespace {

using topologies::LinkEnd;
using topologies::NodeRef;

struct LaneSpeed {
    std::string_view name;
    int64_t bps;
};
/// Of one lane, after 8b/10b (to QDR) or 64b/66b; HDR and later include their FEC in the signalling rate.
constexpr std::array<LaneSpeed, 9> kLaneSpeeds{{{"SDR", 2'000'000'000},
                                                {"DDR", 4'000'000'000},
                                                {"QDR", 8'000'000'000},
                                                {"FDR10", 10'000'000'000},
                                                {"FDR", 13'636'363'636},
                                                {"EDR", 25'000'000'000},
                                                {"HDR", 50'000'000'000},
                                                {"NDR", 100'000'000'000},
                                                {"XDR", 200'000'000'000}}};
constexpr std::array<std::pair<std::string_view, int>, 5> kWidths{
    {{"1x", 1}, {"2x", 2}, {"4x", 4}, {"8x", 8}, {"12x", 12}}};

/// Description as a name: letters, digits, '_', '-', '.'.
std::string name_from(std::string_view description) {
    std::string name;
    for (const char c : description) {
        const bool is_kept = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '.';
        if (is_kept) name += c;
        if (!is_kept && !name.empty() && name.back() != '_') name += '_';
    }
    while (!name.empty() && name.back() == '_') name.pop_back();
    return name;
}

bool is_inside_a_switch(const IbNodeRecord& node) {
    return !node.is_switch && node.description.find("Aggregation Node") != std::string::npos;
}

class NetlistBuilder {
  public:
    NetlistBuilder(const std::vector<IbNodeRecord>& records, const IbNetlistOptions& options, DiagnosticSink& sink)
        : records_(records), options_(options), sink_(sink) {}

    std::optional<topologies::Topology> build() {
        const std::size_t problems_before = sink_.count();
        for (std::size_t i = 0; i < records_.size(); ++i) {
            record_of_[records_[i].guid] = i;
            ++uses_[name_from(records_[i].description)];
        }
        for (const IbNodeRecord& record : records_) check_links(record);
        if (sink_.count() != problems_before) return std::nullopt;
        for (const IbNodeRecord& record : records_) {
            if (record.is_switch) add_switch(record);
        }
        // Hosts of a switch get neighbouring numbers; those that are not at a switch come last.
        for (const IbNodeRecord& record : records_) {
            if (record.is_switch) add_links(record);
        }
        for (const IbNodeRecord& record : records_) {
            if (!record.is_switch && !is_inside_a_switch(record)) add_links(record);
        }
        return std::move(topology_);
    }

  private:
    static const IbPortRecord* find_port(const IbNodeRecord& record, uint32_t port) {
        for (const IbPortRecord& link : record.links) {
            if (link.port == port) return &link;
        }
        return nullptr;
    }

    void check_links(const IbNodeRecord& record) {
        for (const IbPortRecord& link : record.links) {
            const auto found = record_of_.find(link.peer);
            if (found == record_of_.end()) {
                sink_.add(link.place, {}, fmt::format("'{}' has no record", link.peer), "every node's record",
                          "use the whole output of ibnetdiscover");
                continue;
            }
            const IbPortRecord* back = find_port(records_[found->second], link.peer_port);
            if (back == nullptr || back->peer != record.guid || back->peer_port != link.port) {
                sink_.add(link.place, {},
                          fmt::format("port {} of '{}' is not linked to here", link.peer_port, link.peer),
                          "the same link in both records");
            } else if (link.peer == record.guid) {
                sink_.add(link.place, {}, "a link from a node to itself", "two nodes");
            }
        }
    }

    std::string name_of(const IbNodeRecord& record) const {
        std::string name = name_from(record.description);
        return name.empty() || uses_.at(name) > 1 ? record.guid : name;
    }

    void add_switch(const IbNodeRecord& record) {
        switch_of_[record.guid] = static_cast<uint32_t>(topology_.switches.size());
        topology_.switches.push_back({name_of(record), {}, 0, 0, record.lid});
    }

    /// The node of a port; a host is made when it is first met.
    NodeRef node_at(const IbNodeRecord& record, uint32_t port) {
        if (record.is_switch) return {true, switch_of_.at(record.guid)};
        const auto [found, is_new] = host_of_.try_emplace({record.guid, port}, topology_.hosts.size());
        if (is_new) {
            const std::string name = name_of(record);
            const bool is_only_port = record.links.size() == 1;
            topology_.hosts.push_back({is_only_port ? name : fmt::format("{}_{}", name, port), 0, server_of(record), 0,
                                       find_port(record, port)->lid});
            topology_.hosts.back().rail = hosts_of_server_[topology_.hosts.back().server]++;
        }
        return {false, static_cast<uint32_t>(found->second)};
    }

    /// Adapters whose descriptions begin with the same word ("node018 HCA-1") are in one machine.
    uint32_t server_of(const IbNodeRecord& record) {
        const std::string_view description = record.description;
        const bool has_device =
            description.find(" HCA-") != std::string_view::npos || description.find(" mlx") != std::string_view::npos;
        const std::string machine(has_device ? description.substr(0, description.find(' ')) : record.guid);
        return servers_.try_emplace(machine, static_cast<uint32_t>(servers_.size())).first->second;
    }

    void add_links(const IbNodeRecord& record) {
        for (const IbPortRecord& link : record.links) {
            const IbNodeRecord& peer = records_[record_of_.at(link.peer)];
            if (is_inside_a_switch(peer)) continue;
            const PortName a{record.guid, link.port};
            const PortName b{link.peer, link.peer_port};
            if (!linked_.insert(a < b ? std::pair(a, b) : std::pair(b, a)).second) continue;
            const LinkEnd here{node_at(record, link.port), link.port};
            const LinkEnd there{node_at(peer, link.peer_port), link.peer_port};
            const sim::BitRate rate = std::min(link.rate, find_port(peer, link.peer_port)->rate);
            topology_.links.push_back({here, there, rate, options_.cable_delay, 0});
        }
    }

    using PortName = std::pair<std::string, uint32_t>;
    const std::vector<IbNodeRecord>& records_;
    const IbNetlistOptions& options_;
    DiagnosticSink& sink_;
    std::map<std::string, std::size_t> record_of_;
    std::map<std::string, int> uses_;
    std::map<std::string, uint32_t> switch_of_;
    std::map<PortName, std::size_t> host_of_;
    std::map<std::string, uint32_t> servers_;
    std::map<uint32_t, uint32_t> hosts_of_server_;
    std::set<std::pair<PortName, PortName>> linked_;
    topologies::Topology topology_;
};

}  // namespace

std::optional<sim::BitRate> ib_link_rate(std::string_view width_and_speed) {
    for (const auto& [width, lanes] : kWidths) {
        if (!width_and_speed.starts_with(width)) continue;
        for (const LaneSpeed& speed : kLaneSpeeds) {
            if (width_and_speed.substr(width.size()) == speed.name) return sim::BitRate::bps(speed.bps * lanes);
        }
    }
    return std::nullopt;
}

std::optional<topologies::Topology> read_ib_netlist(std::string_view text, std::string_view file,
                                                    const IbNetlistOptions& options, DiagnosticSink& sink) {
    if (!check_is_text(text, file, sink)) return std::nullopt;
    const std::size_t problems_before = sink.count();
    const std::vector<IbNodeRecord> records = read_ib_records(text, file, sink);
    if (sink.count() != problems_before) return std::nullopt;
    auto topology = NetlistBuilder(records, options, sink).build();
    if (topology && !finish_topology(*topology, file, sink)) return std::nullopt;
    return topology;
}

}  // namespace simverbs::scenarios::imports
