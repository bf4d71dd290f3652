#include "scenarios/output/run_folder.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <system_error>
#include <utility>

#include "scenarios/output/counter_files.hpp"
#include "scenarios/output/flow_files.hpp"
#include "scenarios/output/pcie_file.hpp"
#include "scenarios/output/perfetto_trace.hpp"
#include "scenarios/output/result_json.hpp"

namespace simverbs::scenarios::output {

namespace {

constexpr char kResultFile[] = "result.json";

std::string advice_for(int error) {
    switch (error) {
        case EACCES:
        case EPERM:
        case EROFS:
            return "choose a folder that you may write to";
        case ENOSPC:
        case EDQUOT:
            return "free some space, or choose a folder on another disk";
        case ENOTDIR:
        case EEXIST:
            return "a file is in the way of the folder: choose another name";
        default:
            return "choose another folder";
    }
}

std::string failure(const std::filesystem::path& path, int error) {
    return fmt::format("{}: cannot be written: {}; {}", path.string(), std::strerror(error), advice_for(error));
}

/// 0 or what went wrong.
int write_all(const std::filesystem::path& path, std::string_view text) {
    std::FILE* file = std::fopen(path.c_str(), "wb");
    if (file == nullptr) return errno;
    errno = 0;
    const bool is_written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    const int error = errno;
    const bool is_closed = std::fclose(file) == 0;
    if (!is_written) return error != 0 ? error : EIO;
    return is_closed ? 0 : errno;
}

}  // namespace

std::string write_file(const std::filesystem::path& path, std::string_view text) {
    std::error_code problem;
    const std::filesystem::path folder = path.parent_path();
    if (!folder.empty()) std::filesystem::create_directories(folder, problem);
    if (problem) return failure(path, problem.value());
    // Beside the file, since a rename must not cross disks; of this process alone.
    const std::filesystem::path part = folder / fmt::format(".{}.{}.part", path.filename().string(), ::getpid());
    int error = write_all(part, text);
    if (error == 0 && std::rename(part.c_str(), path.c_str()) != 0) error = errno;
    if (error == 0) return {};
    std::filesystem::remove(part, problem);
    return failure(path, error);
}

std::string begin_run_folder(const std::filesystem::path& folder) {
    std::error_code problem;
    std::filesystem::create_directories(folder, problem);
    if (problem) return failure(folder, problem.value());
    std::filesystem::remove(folder / kResultFile, problem);
    return problem ? failure(folder / kResultFile, problem.value()) : std::string();
}

WrittenFiles write_run_folder(const std::filesystem::path& folder, const run::RunResult& result,
                              const std::vector<expect::ExpectationVerdict>& verdicts, const OutputsSpec& outputs) {
    WrittenFiles out;
    const auto write = [&](const std::string& name, const std::string& text) {
        std::string error = write_file(folder / name, text);
        if (error.empty()) {
            out.files.push_back(folder / name);
        } else {
            out.errors.push_back(std::move(error));
        }
    };
    if (outputs.flows) write("flows.csv", flows_csv(result));
    if (outputs.counters) write("counters.csv", counters_csv(result));
    if (outputs.series) write("series.csv", series_csv(result, outputs.series->what));
    if (!result.insides.empty()) write("pcie.csv", pcie_csv(result));
    if (outputs.hpcc_fct) write("fct.txt", hpcc_fct(result));
    if (outputs.perfetto) write("trace.json", perfetto_trace(result));
    for (const run::ProgramRecord& program : result.programs)
        if (program.was_started) write(fmt::format("programs/{}.txt", program.name), program.output);
    // The last, since it says that the others are complete.
    write(kResultFile, result_json(result, verdicts));
    return out;
}

}  // namespace simverbs::scenarios::output
