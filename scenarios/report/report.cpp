#include "scenarios/report/report.hpp"

#include "scenarios/report/page.hpp"
#include "scenarios/report/page_files.hpp"
#include "scenarios/report/report_data.hpp"
#include "scenarios/report/report_sections.hpp"

namespace simverbs::scenarios::report {

std::string render_report(const std::vector<ReportRun>& runs) {
    const std::string body_start =
        header_html(runs) + "<main>\n" + key_figures_html(runs) + stuck_html(runs) + expectations_html(runs);
    const std::string body_end =
        programs_html(runs) + workloads_html(runs) + faults_html(runs) + settings_html(runs) + "</main>\n";
    const std::string body = body_start + std::string(kReportBody) + body_end;
    const std::string title =
        runs.empty() || runs.front().result.scenario.empty() ? "Scenario report" : runs.front().result.scenario;
    const std::string data = script_json(report_data(runs));
    return fill_page({.html_template = kPageTemplate,
                      .title = title + " \xE2\x80\x93 simverbs",
                      .style = kPageStyle,
                      .body = body,
                      .data = data,
                      .library = kChartLibrary,
                      .script = kReportScript});
}

bool report_has_charts() noexcept {
    return !kChartLibrary.empty();
}

}  // namespace simverbs::scenarios::report
