#include "scenarios/build/complex_hosts.hpp"

#include <utility>

#include "models/host/check_platform.hpp"
#include "models/host/complex.hpp"
#include "scenarios/lang/section.hpp"

namespace simverbs::scenarios {

void check_inside(const HostSpec& host, DiagnosticSink& sink) {
    if (host.inside == nullptr) return;
    for (host::PlatformProblem& problem : host::check_platform(host.inside->spec))
        sink.add(host.inside->position, child_path(host.inside->path, problem.where), std::move(problem.problem));
}

fabric::HostSpec complex_host(const HostSpec& host, uint32_t first_nic) {
    fabric::HostSpec to;
    to.path = host.name;
    for (uint32_t n = 0; n < host.nics.size(); ++n) to.nics.push_back(first_nic + n);
    to.make_complex = [inside = host.inside] { return std::make_unique<host::Complex>(inside->spec); };
    return to;
}

}  // namespace simverbs::scenarios
