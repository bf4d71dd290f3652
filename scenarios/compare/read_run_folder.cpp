#include "scenarios/compare/read_run_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "scenarios/compare/read_files.hpp"

namespace simverbs::scenarios::compare {

namespace fs = std::filesystem;

namespace {

constexpr char kResult[] = "result.json";

bool read_whole(const fs::path& file, std::string& text, DiagnosticSink& sink) {
    errno = 0;
    std::ifstream in(file, std::ios::binary);
    text.assign(std::istreambuf_iterator<char>(in), {});
    if (in.is_open() && !in.bad()) return true;
    sink.add({.file = file.string(), .problem = fmt::format("cannot be read: {}", std::strerror(errno))});
    return false;
}

/// Folders in `folder` that hold a run, as `simverbs run --out` makes them: SCENARIO, or SCENARIO/RUN of a sweep.
std::vector<std::string> runs_in(const fs::path& folder) {
    constexpr int kDepth = 1;
    std::vector<std::string> out;
    std::error_code problem;
    fs::recursive_directory_iterator entries(folder, fs::directory_options::skip_permission_denied, problem);
    while (!problem && entries != fs::recursive_directory_iterator()) {
        if (fs::exists(entries->path() / kResult, problem)) out.push_back(entries->path().string());
        if (entries.depth() >= kDepth) entries.disable_recursion_pending();
        entries.increment(problem);
    }
    std::sort(out.begin(), out.end());
    return out;
}

/// The folder in which a run has ended: this one, or the only one in it; nullopt: reported.
std::optional<fs::path> folder_of_run(const fs::path& folder, DiagnosticSink& sink) {
    constexpr std::size_t kNamed = 4;
    std::error_code problem;
    const auto report = [&](std::string what, std::string expected, std::string hint) {
        sink.add({.file = folder.string(),
                  .problem = std::move(what),
                  .expected = std::move(expected),
                  .hint = std::move(hint)});
        return std::nullopt;
    };
    if (!fs::exists(folder, problem)) return report("there is no such folder", "the folder of a run", "");
    if (!fs::is_directory(folder, problem)) return report("is no folder", "the folder of a run", "");
    if (fs::exists(folder / kResult, problem)) return folder;
    std::vector<std::string> runs = runs_in(folder);
    if (runs.empty())
        return report("the run did not finish: there is no result.json", "",
                      "it still goes on or was killed, or no run was ever here");
    const std::size_t count = runs.size();
    if (count == 1) return runs.front();
    runs.resize(std::min(count, kNamed));
    return report(fmt::format("holds {} runs", count), fmt::format("one of them, such as {}", fmt::join(runs, ", ")),
                  "");
}

void check_different(const std::vector<std::string>& folders, const std::vector<std::optional<fs::path>>& places,
                     DiagnosticSink& sink) {
    for (std::size_t i = 0; i < folders.size(); ++i) {
        for (std::size_t k = 0; k < i; ++k) {
            std::error_code problem;
            if (!fs::equivalent(places[i].value_or(folders[i]), places[k].value_or(folders[k]), problem)) continue;
            sink.add({.file = folders[i],
                      .problem = folders[i] == folders[k] ? "is given twice" : "is the same run as " + folders[k],
                      .expected = "different runs"});
            break;
        }
    }
}

/// Folders without what all of them begin with, up to a slash: what tells them apart.
std::vector<std::string> labels_of(std::vector<std::string> folders) {
    std::string_view common = folders.front();
    for (const std::string& folder : folders) {
        const auto end = std::mismatch(common.begin(), common.end(), folder.begin(), folder.end()).first;
        common = common.substr(0, static_cast<std::size_t>(end - common.begin()));
    }
    const std::size_t cut = common.rfind('/') + 1;  // npos + 1 is 0
    for (std::size_t i = 0; i < folders.size(); ++i)
        folders[i] = fmt::format("{}: {}", column_name(i), folders[i].substr(cut));
    return folders;
}

ComparedRun read_one(const fs::path& folder, const std::string& label, DiagnosticSink& sink) {
    ComparedRun run;
    run.folder = folder.string();
    run.result.run_name = label;
    std::string text;
    const std::size_t before = sink.reports();
    if (read_whole(folder / kResult, text, sink)) read_result(text, (folder / kResult).string(), run, sink);
    // What the others say cannot be judged without it.
    if (sink.reports() != before) return run;
    using Reader = void (*)(std::string_view, const std::string&, run::RunResult&, DiagnosticSink&);
    struct File {
        const char* name;
        Reader read;
        const char* setting;
        const char* charts;
    };
    for (const File& file : {File{"flows.csv", read_flows, "outputs.flows", "flows"},
                             File{"series.csv", read_series, "outputs.series", "values over time"}}) {
        std::error_code problem;
        if (!fs::exists(folder / file.name, problem)) {
            run.notes.push_back(fmt::format("{} has no {} ({}): it is not in charts of {}.", label, file.name,
                                            file.setting, file.charts));
        } else if (read_whole(folder / file.name, text, sink)) {
            file.read(text, (folder / file.name).string(), run.result, sink);
        }
    }
    return run;
}

}  // namespace

std::string column_name(std::size_t run) {
    constexpr std::size_t kLetters = 26;
    if (run < kLetters) return std::string(1, static_cast<char>('A' + run));
    return column_name(run / kLetters - 1) + column_name(run % kLetters);
}

std::vector<ComparedRun> read_run_folders(std::vector<std::string> folders, DiagnosticSink& sink) {
    for (std::string& folder : folders)
        while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
    if (folders.size() < 2)
        sink.add({.problem = folders.empty() ? "no folder is given" : "one folder is compared with nothing",
                  .expected = "the folders of two runs or more, such as: simverbs report results/a results/b"});
    std::vector<ComparedRun> runs;
    if (folders.empty()) return runs;
    std::vector<std::optional<fs::path>> places;
    places.reserve(folders.size());
    for (const std::string& folder : folders) places.push_back(folder_of_run(folder, sink));
    check_different(folders, places, sink);
    const std::vector<std::string> labels = labels_of(folders);
    for (std::size_t i = 0; i < folders.size(); ++i)
        if (places[i]) runs.push_back(read_one(*places[i], labels[i], sink));
    return runs;
}

}  // namespace simverbs::scenarios::compare
