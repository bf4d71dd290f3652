// The last step of every reader of a topology.
#pragma once

#include <string_view>

#include "scenarios/topologies/topology.hpp"

namespace simverbs::scenarios::imports {

/// Sets levels and pods and checks the whole; problems name `file`. False if there are any.
bool finish_topology(topologies::Topology& topology, std::string_view file, DiagnosticSink& sink);

}  // namespace simverbs::scenarios::imports
