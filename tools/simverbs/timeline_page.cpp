#include "tools/simverbs/timeline_page.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "scenarios/output/run_folder.hpp"
#include "scenarios/report/report.hpp"
#include "scenarios/timeline/timeline_page.hpp"
#include "tools/simverbs/user_error.hpp"

namespace simverbs::tools {

namespace fs = std::filesystem;

void check_timeline(const LabRequest& request) {
    if (request.timeline.empty() && request.timeline_packets)
        throw UserError(fmt::format("--timeline-packets {}: there is no timeline; expected also --timeline FILE.html",
                                    *request.timeline_packets));
    if (request.timeline.empty()) return;
    const auto refuse = [&](const std::string& problem) {
        throw UserError(fmt::format("--timeline {}: {}", request.timeline, problem));
    };
    if (!scenarios::report::report_has_charts())
        refuse(
            "this simverbs was built without Chart.js, which draws the diagram; install libjs-chart.js and build it "
            "again");
    const fs::path file = request.timeline;
    const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
    std::error_code error;
    if (fs::is_directory(file, error)) refuse("is a folder; expected a file, such as timeline.html");
    if (!fs::is_directory(folder, error))
        refuse(
            fmt::format("there is no folder '{}'; make it, or choose a file in a folder that exists", folder.string()));
    if (::access(folder.c_str(), W_OK | X_OK) != 0)
        refuse(fmt::format("cannot be written: {}; choose a file in a folder that you may write to",
                           std::strerror(errno)));
}

std::string timeline_text(const scenarios::LabSpec& spec, LabSession& session,
                          const std::vector<std::pair<std::string, std::string>>& programs,
                          const std::string& how_to_keep_more) {
    scenarios::timeline::TimelineFacts facts;
    facts.title = spec.name;
    facts.facts = {{"seed", std::to_string(spec.seed)},
                   {"clock", spec.clock == scenarios::ClockKind::Wall ? "wall" : "virtual"}};
    facts.programs = programs;
    facts.how_to_keep_more = how_to_keep_more;
    return scenarios::timeline::render_timeline(session.take_timeline(), facts);
}

void write_timeline(const LabRequest& request, const scenarios::LabSpec& spec, LabSession& session,
                    const std::vector<std::pair<std::string, std::string>>& programs) {
    if (request.timeline.empty()) return;
    const std::string error =
        scenarios::output::write_file(request.timeline, timeline_text(spec, session, programs, "--timeline-packets"));
    if (!error.empty()) throw std::runtime_error("the timeline is not written: " + error);
}

}  // namespace simverbs::tools
