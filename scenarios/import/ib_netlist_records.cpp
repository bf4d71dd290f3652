#include "scenarios/import/ib_netlist_records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "scenarios/import/ib_netlist.hpp"
#include "scenarios/lang/did_you_mean.hpp"

namespace simverbs::scenarios::imports {

namespace {

constexpr uint32_t kMaxIbPort = 254;
constexpr uint32_t kMaxUnicastLid = 0xBFFF;
constexpr std::string_view kNodeLine =
    "a line such as 'Switch 36 \"S-0002c9020046c588\" # \"description\" base port 0 lid 2 lmc 0'";
constexpr std::string_view kPortLine =
    "a line such as '[1] \"H-0002c90300293e1e\"[1](2c90300293e1f) # \"description\" lid 6 4xQDR'";

/// Steps through a line; every step fails for good once one has failed.
class LineCursor {
  public:
    explicit LineCursor(std::string_view line) : rest_(line) {}

    [[nodiscard]] bool is_good() const noexcept { return is_good_; }
    /// Skips blanks; then `token` must come.
    void expect(std::string_view token) {
        skip_blank();
        is_good_ = is_good_ && rest_.starts_with(token);
        if (is_good_) rest_.remove_prefix(token.size());
    }
    [[nodiscard]] bool sees(std::string_view token) {
        skip_blank();
        return is_good_ && rest_.starts_with(token);
    }
    uint32_t number(uint32_t most) {
        const std::string_view digits = take_while("0123456789");
        const auto value = parse_number<uint32_t>(digits);
        is_good_ = is_good_ && value && *value <= most;
        return value.value_or(0);
    }
    /// Up to the next quote, without both.
    std::string quoted() {
        expect("\"");
        const auto end = rest_.find('"');
        is_good_ = is_good_ && end != std::string_view::npos;
        if (!is_good_) return {};
        std::string out(rest_.substr(0, end));
        rest_.remove_prefix(end + 1);
        return out;
    }
    /// Letters and digits.
    std::string_view word() {
        constexpr std::string_view kLetters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
        return take_while(kLetters);
    }
    /// "(2c90300293e1f)", if it comes.
    void skip_guid() {
        if (!sees("(")) return;
        expect("(");
        word();
        expect(")");
    }
    /// Nothing but a remark may follow.
    void expect_end() {
        skip_blank();
        is_good_ = is_good_ && rest_.empty();
    }

  private:
    void skip_blank() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r"), rest_.size())); }
    std::string_view take_while(std::string_view characters) {
        skip_blank();
        const auto end = std::min(rest_.find_first_not_of(characters), rest_.size());
        const std::string_view taken = rest_.substr(0, end);
        is_good_ = is_good_ && !taken.empty();
        rest_.remove_prefix(end);
        return taken;
    }

    std::string_view rest_;
    bool is_good_ = true;
};

bool is_node_guid(std::string_view guid, char letter) {
    return guid.size() > 2 && guid[0] == letter && guid[1] == '-' &&
           guid.find_first_not_of("0123456789abcdefABCDEF", 2) == std::string_view::npos;
}

std::optional<IbNodeRecord> node_of_line(std::string_view line, const SourcePosition& place) {
    LineCursor cursor(line);
    IbNodeRecord node;
    node.place = place;
    node.is_switch = cursor.word() == "Switch";
    node.ports = cursor.number(kMaxIbPort);
    node.guid = cursor.quoted();
    cursor.expect("#");
    node.description = cursor.quoted();
    if (node.is_switch) {
        cursor.expect(cursor.sees("enhanced") ? "enhanced" : "base");
        cursor.expect("port");
        cursor.expect("0");
        cursor.expect("lid");
        node.lid = static_cast<uint16_t>(cursor.number(kMaxUnicastLid));
        cursor.expect("lmc");
        cursor.number(7);
        cursor.expect_end();
    }
    if (!cursor.is_good() || !is_node_guid(node.guid, node.is_switch ? 'S' : 'H')) return std::nullopt;
    return node;
}

/// `[1](guid) "S-…"[6] # lid 16 lmc 1 "description" lid 3 4xSDR`, without the GUID and the first lid at a switch.
std::optional<IbPortRecord> port_of_line(std::string_view line, const SourcePosition& place, bool is_switch) {
    LineCursor cursor(line);
    IbPortRecord port;
    port.place = place;
    const auto external = [&] {
        if (!cursor.sees("[ext")) return;
        cursor.expect("[ext");
        cursor.number(kMaxIbPort);
        cursor.expect("]");
    };
    cursor.expect("[");
    port.port = cursor.number(kMaxIbPort);
    cursor.expect("]");
    external();
    cursor.skip_guid();
    port.peer = cursor.quoted();
    cursor.expect("[");
    port.peer_port = cursor.number(kMaxIbPort);
    cursor.expect("]");
    external();
    cursor.skip_guid();
    cursor.expect("#");
    if (!is_switch) {
        cursor.expect("lid");
        port.lid = static_cast<uint16_t>(cursor.number(kMaxUnicastLid));
        cursor.expect("lmc");
        cursor.number(7);
    }
    cursor.quoted();
    cursor.expect("lid");
    cursor.number(kMaxUnicastLid);
    const auto rate = ib_link_rate(cursor.word());
    cursor.expect_end();
    if (!cursor.is_good() || !rate) return std::nullopt;
    port.rate = *rate;
    const bool is_peer = is_node_guid(port.peer, 'S') || is_node_guid(port.peer, 'H');
    return is_peer && port.port > 0 && port.peer_port > 0 ? std::optional(port) : std::nullopt;
}

class RecordReader {
  public:
    RecordReader(std::string_view text, std::string_view file, DiagnosticSink& sink)
        : lines_(text, file), sink_(sink), problems_(lines_, sink) {}

    std::vector<IbNodeRecord> read() {
        while (lines_.next_with_words()) read_line();
        return std::move(nodes_);
    }

  private:
    void read_line() {
        const std::string_view first = lines_.words()[0].text;
        if (first.starts_with('#') || is_heading(first)) return;
        if (first == "Switch" || first == "Ca") return read_node();
        if (first.starts_with('[')) return read_port();
        if (first == "Rt") {
            is_in_bad_record_ = true;
            return problems_.add_line("routers are not modelled", "switches and channel adapters");
        }
        const auto equals = first.find('=');
        const std::string_view key = first.substr(0, equals);
        const bool is_known = std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
        if (equals != std::string_view::npos && is_known) return;
        problems_.add(lines_.words()[0], fmt::format("{} begins no line", in_quotes(key)),
                      "'vendid=', 'switchguid=', 'Switch', 'Ca', '[1]', …",
                      sink_.is_full() ? "" : did_you_mean(key, {kKeys.begin(), kKeys.end()}));
    }

    /// What the option --grouping adds.
    static bool is_heading(std::string_view first) {
        constexpr std::array<std::string_view, 5> kHeadings{"Non-Chassis", "Chassis", "Spine", "Line", "SRBD"};
        return std::find(kHeadings.begin(), kHeadings.end(), first) != kHeadings.end();
    }

    void read_node() {
        auto node = node_of_line(lines_.line(), lines_.place(lines_.words()[0].column));
        is_in_bad_record_ = !node;
        if (!node) return problems_.add_line("the line of a node cannot be read", std::string(kNodeLine));
        const auto [first, is_new] = place_of_.try_emplace(node->guid, node->place.line);
        if (!is_new) {
            problems_.add_line(fmt::format("'{}' has a record in line {} already", node->guid, first->second), "one");
        }
        nodes_.push_back(std::move(*node));
    }

    void read_port() {
        if (is_in_bad_record_) return;  // the record's problem is reported
        if (nodes_.empty()) return problems_.add_line("a port without a node", "a line 'Switch …' or 'Ca …' before it");
        IbNodeRecord& node = nodes_.back();
        auto port = port_of_line(lines_.line(), lines_.place(lines_.words()[0].column), node.is_switch);
        if (!port) return problems_.add_line("the line of a port cannot be read", std::string(kPortLine));
        if (port->port > node.ports) {
            return problems_.add_line(fmt::format("'{}' has no port {}", node.guid, port->port),
                                      fmt::format("1 to {}", node.ports));
        }
        const auto is_same = [&](const IbPortRecord& other) { return other.port == port->port; };
        if (std::any_of(node.links.begin(), node.links.end(), is_same)) {
            return problems_.add_line(fmt::format("port {} of '{}' occurs twice", port->port, node.guid), "once");
        }
        node.links.push_back(std::move(*port));
    }

    static constexpr std::array<std::string_view, 6> kKeys{"vendid",     "devid",  "sysimgguid",
                                                           "switchguid", "caguid", "rtguid"};
    TextLines lines_;
    DiagnosticSink& sink_;
    LineProblems problems_;
    std::vector<IbNodeRecord> nodes_;
    std::map<std::string, int> place_of_;
    bool is_in_bad_record_ = false;
};

}  // namespace

std::vector<IbNodeRecord> read_ib_records(std::string_view text, std::string_view file, DiagnosticSink& sink) {
    return RecordReader(text, file, sink).read();
}

}  // namespace simverbs::scenarios::imports
