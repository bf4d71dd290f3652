// simverbs report: runs side by side.
#include <fmt/format.h>

#include <iostream>

#include "scenarios/compare/comparison_page.hpp"
#include "scenarios/compare/comparison_table.hpp"
#include "scenarios/compare/read_run_folder.hpp"
#include "scenarios/output/run_folder.hpp"
#include "scenarios/report/report.hpp"
#include "tools/simverbs/commands.hpp"
#include "tools/simverbs/exit_code.hpp"

namespace simverbs::tools {

namespace {

constexpr char kDefaultPage[] = "simverbs-report.html";

/// The page, or why there is none.
int write_page(const std::vector<scenarios::compare::ComparedRun>& runs, const std::string& out) {
    if (!scenarios::report::report_has_charts()) {
        std::cerr << "simverbs: report: no page is written: this simverbs was built without Chart.js, which draws its "
                     "charts; install libjs-chart.js and build it again\n";
        return out.empty() ? kSuccess : kUsage;
    }
    const std::string file = out.empty() ? kDefaultPage : out;
    const std::string error = scenarios::output::write_file(file, scenarios::compare::render_comparison(runs));
    if (error.empty()) {
        std::cerr << "page: " << file << '\n';
        return kSuccess;
    }
    std::cerr << "simverbs: " << error << '\n';
    return kServerError;
}

}  // namespace

int run_report(const ReportOptions& options) {
    scenarios::DiagnosticSink sink;
    const auto runs = scenarios::compare::read_run_folders(options.folders, sink);
    if (!sink.empty()) {
        for (const scenarios::Diagnostic& mistake : sink.kept())
            std::cerr << "simverbs: report: " << scenarios::to_string(mistake) << '\n';
        if (sink.count() > sink.kept().size())
            std::cerr << fmt::format("simverbs: report: and {} more\n", sink.count() - sink.kept().size());
        return kUsage;
    }
    std::cout << scenarios::compare::comparison_text(runs) << std::flush;
    return write_page(runs, options.out);
}

}  // namespace simverbs::tools
