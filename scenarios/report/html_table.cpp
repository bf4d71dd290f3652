#include "scenarios/report/html_table.hpp"

#include <fmt/format.h>

#include "scenarios/report/page.hpp"

namespace simverbs::scenarios::report {

namespace {

std::string table_cell(const Cell& cell, std::string_view tag, std::string_view scope) {
    std::string attributes;
    if (!scope.empty()) attributes += fmt::format(" scope=\"{}\"", scope);
    if (!cell.style.empty()) attributes += fmt::format(" class=\"{}\"", cell.style);
    return fmt::format("<{0}{1}>{2}</{0}>", tag, attributes, escape_html(cell.text));
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
