#include <fmt/format.h>

#include <charconv>
#include <filesystem>

#include "scenarios/lang/lab_reading.hpp"
#include "scenarios/lang/lab_schemas.hpp"
#include "scenarios/lang/quantity.hpp"
#include "scenarios/lang/section.hpp"

namespace simverbs::scenarios {

namespace {

constexpr std::string_view kExpectedPlace = "a host, switch or port such as 'h0', 'h0.mlx5_0/1', 'tor0' or 'tor0/5'";

/// Number n of a fabric's host "hn".
std::optional<int64_t> fabric_host_number(std::string_view name) {
    if (name.size() < 2 || name[0] != 'h') return std::nullopt;
    int64_t number = 0;
    const auto result = std::from_chars(name.data() + 1, name.data() + name.size(), number);
    if (result.ec != std::errc() || result.ptr != name.data() + name.size()) return std::nullopt;
    return number;
}

/// NAME[.DEVICE][/PORT] of something that does not exist yet.
bool check_fabric_place(const LabReading& reading, const PlaceRef& place) {
    const std::string_view text = place.text;
    const std::size_t slash = text.find('/');
    const std::string_view before = text.substr(0, slash);
    const std::size_t dot = before.find('.');
    const std::string_view node = before.substr(0, dot);
    bool is_right = is_name(node) && (dot == std::string_view::npos || is_name(before.substr(dot + 1)));
    if (slash != std::string_view::npos) {
        const auto port = parse_integer(text.substr(slash + 1));
        const auto* number = std::get_if<int64_t>(&port);
        is_right = is_right && number != nullptr && *number >= 1;
    }
    if (!is_right) {
        reading.sink.add(place.position, place.path, in_quotes(text) + " is not a place", std::string(kExpectedPlace));
        return false;
    }
    const auto number = fabric_host_number(node);
    if (!number || !reading.topology.host_count || *number < *reading.topology.host_count) return true;
    reading.sink.add(place.position, place.path, fmt::format("there is no host {}", in_quotes(node)),
                     fmt::format("h0 to h{}", *reading.topology.host_count - 1));
    return false;
}

}  // namespace

bool check_place(const LabReading& reading, const PlaceRef& place) {
    if (reading.topology.is_fabric) return check_fabric_place(reading, place);
    // One that is wrong has been reported, or might be right once the names are.
    return read_link_end(reading, place.text, place.position, place.path).has_value();
}

std::optional<LinkRef> read_link_ref(const LabReading& reading, std::string_view text, const SourcePosition& position,
                                     const std::string& path) {
    constexpr std::string_view kBetween = " - ";
    const std::size_t between = text.find(kBetween);
    LinkRef link;
    link.a = {std::string(text.substr(0, between)), path, position};
    if (!check_place(reading, link.a)) return std::nullopt;
    if (between == std::string_view::npos) return link;
    link.b = PlaceRef{std::string(text.substr(between + kBetween.size())), path, position};
    if (!check_place(reading, *link.b)) return std::nullopt;
    return link;
}

void read_fabric_links(LabReading& reading, const YamlValue& node, const std::string& path) {
    if (node.kind != YamlKind::Sequence) {
        report_wrong_shape(node, path, std::string(expected_shape(kLabSchema, "links")), reading.sink);
        return;
    }
    for (std::size_t i = 0; i < node.items.size(); ++i) {
        const YamlValue& item = *node.items[i];
        const std::string item_at = item_path(path, i);
        const Section section(kLinkSchema, item, item_at, reading.sink, reading.link_template);
        LinkAdjustment adjustment;
        adjustment.properties = read_link_properties(reading, section);
        if (!section.has("a")) {
            if (!section.writes("a") && item.kind == YamlKind::Map) {
                reading.sink.add(item.position, item_at, "the key 'a' is missing", std::string(kExpectedPlace));
            }
            continue;
        }
        adjustment.link.a = {section.text("a"), section.path("a"), section.position("a")};
        bool is_right = check_place(reading, adjustment.link.a);
        if (section.has("b")) {
            adjustment.link.b = PlaceRef{section.text("b"), section.path("b"), section.position("b")};
            is_right = check_place(reading, *adjustment.link.b) && is_right;
        }
        if (is_right) reading.topology.adjustments.push_back(std::move(adjustment));
    }
}

std::string read_file_name(std::string_view text, const SourcePosition& position, const std::string& path,
                           DiagnosticSink& sink) {
    namespace fs = std::filesystem;
    const fs::path written(text);
    // A place without a line is not in a file but on the command line.
    const fs::path folder = position.line > 0 ? fs::path(position.file_name()).parent_path() : fs::path();
    const fs::path file = written.is_absolute() ? written : folder / written;
    std::error_code error;
    if (!fs::is_regular_file(file, error)) {
        sink.add(position, path, fmt::format("there is no file {}", in_quotes(file.string(), kMaxQuotedFileBytes)), {},
                 written.is_absolute() ? "" : "it is looked for beside the file that names it");
    }
    return file.string();
}

}  // namespace simverbs::scenarios
