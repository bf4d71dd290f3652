// make_reports FOLDER: writes the reports that check_pages.py opens.
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "scenarios/compare/comparison_page.hpp"
#include "scenarios/compare/read_run_folder.hpp"
#include "scenarios/output/run_folder.hpp"
#include "tests/report/sample_results.hpp"
#include "tests/report/sample_timelines.hpp"

namespace {

using namespace simverbs::scenarios::report;

void write(const std::filesystem::path& file, const std::vector<ReportRun>& runs) {
    std::ofstream out(file, std::ios::binary);
    out << render_report(runs);
    if (!out.flush()) throw std::filesystem::filesystem_error("cannot write", file, std::error_code());
}

void write_timeline(const std::filesystem::path& file, const simverbs::timeline::Timeline& timeline) {
    namespace timeline_page = simverbs::scenarios::timeline;
    std::ofstream out(file, std::ios::binary);
    out << timeline_page::render_timeline(timeline, timeline_page::sample_facts());
    if (!out.flush()) throw std::filesystem::filesystem_error("cannot write", file, std::error_code());
}

/// Runs side by side, by way of the folders that they would leave.
void write_comparison(const std::filesystem::path& file,
                      const std::vector<simverbs::scenarios::run::RunResult>& results, bool has_tables) {
    using namespace simverbs::scenarios;
    std::vector<std::string> folders;
    OutputsSpec outputs;
    outputs.flows = has_tables;
    if (has_tables) outputs.series.emplace();
    for (const run::RunResult& result : results) {
        folders.push_back(file.parent_path() / file.stem() / result.algorithm);
        const std::vector<expect::ExpectationVerdict> verdicts{
            {.text = "drops == 0", .outcome = expect::Outcome::Failed, .measured = 14, .wanted = "== 0"},
            {.text = "all flows complete", .outcome = expect::Outcome::NotEvaluable, .wanted = ""}};
        if (!output::write_run_folder(folders.back(), result, verdicts, outputs).errors.empty())
            throw std::filesystem::filesystem_error("cannot write", folders.back(), std::error_code());
    }
    DiagnosticSink sink;
    const auto runs = compare::read_run_folders(folders, sink);
    if (!sink.empty()) throw std::runtime_error(sink.to_string());
    std::ofstream out(file, std::ios::binary);
    out << compare::render_comparison(runs);
    if (!out.flush()) throw std::filesystem::filesystem_error("cannot write", file, std::error_code());
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: make_reports FOLDER\n");
        return 2;
    }
    const std::filesystem::path folder = argv[1];
    std::filesystem::create_directories(folder);
    const auto rich = rich_result(0.75);
    write(folder / "rich.html", {{rich, sample_verdicts(true)}});
    const auto empty = empty_result();
    write(folder / "empty.html", {{empty, {}}});
    write(folder / "none.html", {});
    const auto hostile = hostile_result();
    write(folder / "hostile.html", {{hostile, sample_verdicts(false)}, {empty, {}}});
    const auto large = large_result(20'000);
    write(folder / "large.html", {{large, {}}});
    std::vector<simverbs::scenarios::run::RunResult> results;
    for (const auto& [algorithm, load] : {std::pair("dcqcn", 0.8), std::pair("hpcc", 0.35), std::pair("timely", 0.6)}) {
        results.push_back(rich_result(load));
        results.back().run_name = std::string("cc.algorithm=") + algorithm;
        results.back().algorithm = algorithm;
        results.back().settings = {{"cc.algorithm", algorithm}};
    }
    write(folder / "sweep.html", {{results[0], sample_verdicts(false)},
                                  {results[1], sample_verdicts(true)},
                                  {results[2], sample_verdicts(true)}});
    results[1].seed = 8;
    results[2].groups[0].name = "<img src=x onerror=\"throw 1\">" + std::string(300, 'w');
    write_comparison(folder / "compare.html", results, true);
    results.pop_back();
    write_comparison(folder / "compare_bare.html", results, false);
    namespace timeline_page = simverbs::scenarios::timeline;
    write_timeline(folder / "timeline.html", timeline_page::rich_timeline());
    write_timeline(folder / "timeline_empty.html", timeline_page::empty_timeline());
    write_timeline(folder / "timeline_large.html", timeline_page::large_timeline(5000));
    write_timeline(folder / "timeline_hostile.html", timeline_page::hostile_timeline());
    return 0;
}
