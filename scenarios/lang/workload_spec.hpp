// What traffic a scenario has, before it is spread over the hosts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scenarios/lang/place_ref.hpp"
#include "scenarios/lang/values.hpp"
#include "sim/sim_time.hpp"
#include "sim/units.hpp"

namespace simverbs::scenarios {

/// One flow of a workload of kind `flows`.
struct FlowEntry {
    PlaceRef src;
    PlaceRef dst;
    sim::ByteCount bytes = 0;
    sim::SimTime start;  ///< after the workload's start
    std::optional<int> priority;
    std::optional<int> dscp;  ///< instead of a priority
    std::string path;
    SourcePosition position;
};

struct WorkloadSpec {
    std::string name;  ///< distinct in the scenario; names the group of its flows
    std::string kind;  ///< "incast"; see workload_kinds()
    sim::SimTime start;
    int priority = 3;
    std::optional<int> dscp;           ///< instead of `priority`
    Values values;                     ///< the kind's own keys
    HostSet hosts;                     ///< who takes part: `hosts` or `ranks`
    HostSet senders;                   ///< of an incast
    std::optional<PlaceRef> src;       ///< perftest
    std::optional<PlaceRef> dst;       ///< perftest
    std::optional<PlaceRef> receiver;  ///< incast
    std::vector<FlowEntry> flows;      ///< kind `flows`
    bool is_complete = true;           ///< nothing in it is wrong; else only its names can be relied on
    std::string file;                  ///< a path that can be opened: `file`, or a `cdf` that is not built in
    std::string path;
    SourcePosition position;
};

}  // namespace simverbs::scenarios
