#include "scenarios/compare/comparison_page.hpp"

#include <fmt/format.h>

#include "scenarios/compare/comparison_table.hpp"
#include "scenarios/report/html_table.hpp"
#include "scenarios/report/page.hpp"
#include "scenarios/report/page_files.hpp"
#include "scenarios/report/report_data.hpp"
#include "scenarios/report/report_sections.hpp"

namespace simverbs::scenarios::compare {

using report::Cell;
using report::escape_html;

namespace {

std::string title_of(const std::vector<ComparedRun>& runs) {
    for (const ComparedRun& run : runs)
        if (run.result.scenario != runs.front().result.scenario) return "Runs side by side";
    return runs.front().result.scenario.empty() ? "Runs side by side" : runs.front().result.scenario;
}

std::string header_of(const std::vector<ComparedRun>& runs) {
    std::string out = fmt::format("<header>\n<p class=\"kind\">simverbs: {} runs side by side</p>\n<h1>{}</h1>\n",
                                  runs.size(), escape_html(title_of(runs)));
    for (const ComparedRun& run : runs)
        for (const std::string& note : run.notes) out += fmt::format("<p class=\"none\">{}</p>\n", escape_html(note));
    return out + "</header>\n";
}

std::string tables_of(const std::vector<ComparedRun>& runs) {
    std::vector<Cell> head;
    for (const std::string& text : column_heads(runs.size())) head.push_back({text, head.empty() ? "" : "number"});
    std::string out;
    std::size_t number = 0;
    for (const ComparisonSection& section : compare_runs(runs)) {
        std::vector<std::vector<Cell>> rows;
        for (const ComparisonRow& row : section.rows) {
            rows.emplace_back();
            for (std::string& text : texts_of(row))
                rows.back().push_back({std::move(text), rows.back().empty() ? "" : "number"});
        }
        const std::string heading = fmt::format("<span class=\"one-line\">{}</span>", escape_html(section.title));
        out +=
            report::section(fmt::format("numbers-{}", number), heading, report::html_table(section.title, head, rows));
        ++number;
    }
    return out;
}

}  // namespace

std::string render_comparison(const std::vector<ComparedRun>& runs) {
    std::vector<report::ReportRun> reported;
    reported.reserve(runs.size());
    for (const ComparedRun& run : runs) reported.push_back({run.result, run.verdicts});
    const std::string body = header_of(runs) + "<main>\n" + tables_of(runs) + report::expectations_html(reported) +
                             std::string(report::kCompareBody) + "</main>\n";
    return report::fill_page({.html_template = report::kPageTemplate,
                              .title = title_of(runs) + " \xE2\x80\x93 simverbs",
                              .style = report::kPageStyle,
                              .body = body,
                              .data = report::script_json(report::comparison_data(reported)),
                              .library = report::kChartLibrary,
                              .script = report::kCompareScript});
}

}  // namespace simverbs::scenarios::compare
