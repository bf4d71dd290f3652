#include "scenarios/import/hpcc_topology.hpp"

#include <fmt/format.h>

#include "scenarios/import/finish_topology.hpp"
#include "scenarios/import/text_lines.hpp"

namespace simverbs::scenarios::imports {

namespace {

constexpr std::string_view kLinkLine = "'SRC DST RATE DELAY LOSS', for example '0 320 100Gbps 1000ns 0'";

class HpccTopologyReader {
  public:
    HpccTopologyReader(std::string_view text, std::string_view file, DiagnosticSink& sink)
        : lines_(text, file), sink_(sink), problems_(lines_, sink) {}

    std::optional<HpccTopology> read() {
        const std::size_t problems_before = sink_.count();
        if (!read_counts() || !read_switches()) return std::nullopt;
        name_nodes();
        read_links();
        if (sink_.count() != problems_before) return std::nullopt;
        return std::move(result_);
    }

  private:
    bool read_counts() {
        if (!lines_.next_with_words() || lines_.words().size() != 3) {
            problems_.add_line("no counts in the first line", "'NODES SWITCHES LINKS', for example '376 56 480'");
            return false;
        }
        const auto& words = lines_.words();
        const auto nodes = problems_.number<uint32_t>(words[0], "number of nodes", 1, topologies::kMaxHosts);
        const auto switches = problems_.number<uint32_t>(words[1], "number of switches", 0, topologies::kMaxSwitches);
        const auto links = problems_.number<uint32_t>(words[2], "number of links", 0, topologies::kMaxLinks);
        if (!nodes || !switches || !links) return false;
        if (*switches > *nodes) {
            problems_.add(words[1], fmt::format("{} switches among {} nodes", *switches, *nodes), "fewer");
            return false;
        }
        nodes_ = *nodes;
        switches_ = *switches;
        links_ = *links;
        return true;
    }

    bool read_switches() {
        is_switch_.assign(nodes_, false);
        for (uint32_t found = 0; found < switches_;) {
            if (!lines_.next_with_words()) {
                problems_.add_line(fmt::format("{} of {} switches are missing", switches_ - found, switches_),
                                   "the numbers of all switches");
                return false;
            }
            for (const Word& word : lines_.words()) {
                ++found;
                const auto node = problems_.number<uint32_t>(word, "node", 0, nodes_ - 1);
                if (node && is_switch_[*node]) problems_.add(word, fmt::format("switch {} twice", *node), "once");
                if (node) is_switch_[*node] = true;
            }
            if (found > switches_) {
                problems_.add_line(fmt::format("more switches than the {} announced", switches_),
                                   "as many numbers as the first line says");
                return false;
            }
        }
        return true;
    }

    void name_nodes() {
        for (uint32_t node = 0; node < nodes_; ++node) {
            auto& topology = result_.topology;
            const bool is_switch = is_switch_[node];
            const auto index = static_cast<uint32_t>(is_switch ? topology.switches.size() : topology.hosts.size());
            if (is_switch) {
                topology.switches.push_back({fmt::format("sw{}", node), {}, 0, 0, 0});
            } else {
                topology.hosts.push_back({fmt::format("h{}", node), 0, index, 0, 0});
            }
            result_.nodes.push_back({is_switch, index});
        }
        next_port_.assign(nodes_, 0);
    }

    void read_links() {
        for (uint32_t i = 0; i < links_; ++i) {
            if (!lines_.next_with_words()) {
                problems_.add_line(fmt::format("{} of {} links are missing", links_ - i, links_),
                                   std::string(kLinkLine));
                return;
            }
            read_link();
        }
        result_.unread_lines = count_unread_lines(lines_);
    }

    void read_link() {
        const auto& words = lines_.words();
        if (words.size() != 5) {
            problems_.add_line(fmt::format("{} word(s) in the line", words.size()), std::string(kLinkLine));
            return;
        }
        const auto src = problems_.number<uint32_t>(words[0], "node", 0, nodes_ - 1);
        const auto dst = problems_.number<uint32_t>(words[1], "node", 0, nodes_ - 1);
        const auto rate = parse_ns3_rate(words[2].text);
        const auto delay = parse_ns3_time(words[3].text);
        const auto loss = parse_real(words[4].text);
        const bool is_rate = rate && rate->in_bps() > 0;
        if (!is_rate) problems_.add(words[2], in_quotes(words[2].text) + " is no rate", "for example '100Gbps'");
        if (!delay) problems_.add(words[3], in_quotes(words[3].text) + " is no delay", "for example '1000ns'");
        const bool is_loss = loss && *loss >= 0 && *loss <= 1;
        if (!is_loss) problems_.add(words[4], in_quotes(words[4].text) + " is no loss", "a probability from 0 to 1");
        if (src && dst && *src == *dst) problems_.add(words[1], "a link from a node to itself", "two nodes");
        if (!src || !dst || *src == *dst || !is_rate || !delay || !is_loss) return;
        result_.topology.links.push_back({{result_.nodes[*src], next_port_[*src]++},
                                          {result_.nodes[*dst], next_port_[*dst]++},
                                          *rate,
                                          *delay,
                                          *loss});
    }

    TextLines lines_;
    DiagnosticSink& sink_;
    LineProblems problems_;
    uint32_t nodes_ = 0;
    uint32_t switches_ = 0;
    uint32_t links_ = 0;
    std::vector<bool> is_switch_;
    std::vector<uint32_t> next_port_;
    HpccTopology result_;
};

}  // namespace

std::optional<HpccTopology> read_hpcc_topology(std::string_view text, std::string_view file, DiagnosticSink& sink) {
    if (!check_is_text(text, file, sink)) return std::nullopt;
    auto result = HpccTopologyReader(text, file, sink).read();
    if (result && !finish_topology(result->topology, file, sink)) return std::nullopt;
    return result;
}

}  // namespace simverbs::scenarios::imports
