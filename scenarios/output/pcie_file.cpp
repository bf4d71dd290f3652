#include "scenarios/output/pcie_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "scenarios/output/csv.hpp"

namespace simverbs::scenarios::output {

namespace {

void add_part(const run::RunResult& result, const run::HostInsideRecord& inside, const run::InsidePart& part,
              std::string& out) {
    for (size_t i = 0; i < part.bins.size(); ++i) {
        if (part.bins[i] == sim::SimTime::zero()) continue;
        const sim::SimTime from = part.bin * static_cast<int64_t>(i);
        const sim::SimTime until = std::min(from + part.bin, result.simulated_time);
        const double share = static_cast<double>(part.bins[i].in_ps()) / static_cast<double>((until - from).in_ps());
        fmt::format_to(std::back_inserter(out), "{},{},{},{},{},{},{}\n", csv_field(inside.host), csv_field(part.name),
                       csv_field(part.kind), part.rate.in_bps(), from.in_ps(), until.in_ps(), std::min(share, 1.0));
    }
}

}  // namespace

std::string pcie_csv(const run::RunResult& result) {
    if (result.insides.empty()) return {};
    std::string out = "host,part,kind,rate_bps,from_ps,until_ps,utilisation\n";
    for (const run::HostInsideRecord& inside : result.insides)
        for (const run::InsidePart& part : inside.parts) add_part(result, inside, part, out);
    return out;
}

}  // namespace simverbs::scenarios::output
