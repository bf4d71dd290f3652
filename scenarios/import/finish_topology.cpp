#include "scenarios/import/finish_topology.hpp"

#include "scenarios/topologies/levels.hpp"

namespace simverbs::scenarios::imports {

bool finish_topology(topologies::Topology& topology, std::string_view file, DiagnosticSink& sink) {
    topologies::assign_levels(topology);
    DiagnosticSink problems;
    const bool is_right = topologies::validate(topology, problems);
    for (Diagnostic& problem : problems.sorted()) {
        problem.file = file;
        sink.add(std::move(problem));
    }
    return is_right;
}

}  // namespace simverbs::scenarios::imports
