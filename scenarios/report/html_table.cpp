#include "scenarios/report/html_table.hpp"

#include <fmt/format.h>

#include "scenarios/report/page.hpp"

namespace simverbs::scenarios::report {

namespace {

constexpr size_t kLong = 40;      // bytes; more may take several lines
constexpr size_t kLongest = 160;  // bytes; of more, the middle is left out

/// Both ends of a text that is too long, cut between characters.
std::string shortened(std::string_view text) {
    if (text.size() <= kLongest) return std::string(text);
    const auto inside_character = [&](size_t at) { return (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U; };
    size_t head = kLongest / 2;
    size_t tail = text.size() - kLongest / 2;
    for (int i = 0; i < 3 && inside_character(head); ++i) --head;  // UTF-8: at most three bytes continue a character
    for (int i = 0; i < 3 && inside_character(tail); ++i) ++tail;
    return std::string(text.substr(0, head)) + "\xE2\x80\xA6" + std::string(text.substr(tail));
}

std::string table_cell(const Cell& cell, std::string_view tag, std::string_view scope) {
    std::string attributes;
    if (!scope.empty()) attributes += fmt::format(" scope=\"{}\"", scope);
    const std::string shown = shortened(cell.text);
    const bool is_long = shown.size() > kLong;
    if (is_long || !cell.style.empty())
        attributes += fmt::format(" class=\"{}{}\"", cell.style, is_long ? " long" : "");
    if (shown.size() != cell.text.size()) attributes += fmt::format(" title=\"{}\"", escape_html(cell.text));
    return fmt::format("<{0}{1}>{2}</{0}>", tag, attributes, escape_html(shown));
}

}  // namespace

std::string html_table(std::string_view caption, const std::vector<Cell>& head,
                       const std::vector<std::vector<Cell>>& rows) {
    const std::string name = escape_html(caption);
    // A box that scrolls must be reachable by keyboard, and so needs a name.
    std::string out = fmt::format(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\">\n<table>\n"
        "<caption class=\"unseen\">{0}</caption>\n<thead><tr>",
        name);
    for (const Cell& cell : head) out += table_cell(cell, "th", "col");
    out += "</tr></thead>\n<tbody>\n";
    for (const std::vector<Cell>& row : rows) {
        out += "<tr>";
        for (size_t i = 0; i < row.size(); ++i) {
            out += i == 0 ? table_cell(row[i], "th", "row") : table_cell(row[i], "td", "");
        }
        out += "</tr>\n";
    }
    return out + "</tbody>\n</table>\n</div>\n";
}

}  // namespace simverbs::scenarios::report
