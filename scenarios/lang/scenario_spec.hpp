// A scenario as its files describe it: the network, its traffic and programs, what goes wrong, what is expected and
// what is written. Plain data, complete and free of contradictions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/lang/addressed_fault_spec.hpp"
#include "scenarios/lang/expectation_spec.hpp"
#include "scenarios/lang/lab_spec.hpp"
#include "scenarios/lang/topology_spec.hpp"
#include "scenarios/lang/values.hpp"
#include "scenarios/lang/workload_spec.hpp"

namespace simverbs::scenarios {

enum class LossRecovery { GoBackN, SelectiveRepeat };
enum class WindowKind { None, Bdp, Fixed };

struct TransportSpec {
    sim::ByteCount payload = 0;  ///< of a full packet
    LossRecovery loss_recovery = LossRecovery::GoBackN;
    int ack_every = 1;  ///< packets
    sim::SimTime retransmission_timeout;
    int retry_cnt = 7;
    WindowKind window = WindowKind::None;
    sim::ByteCount window_bytes = 0;  ///< of WindowKind::Fixed
};

/// Congestion control. `values` has the parameters that the file writes (is_written) and the table's defaults of the
/// rest; a preset counts between the two.
struct CcSpec {
    std::string algorithm = "none";
    std::string preset;  ///< "": none
    Values values;
    bool is_complete = true;  ///< nothing in it is wrong
    std::string path;
    SourcePosition position;
};

enum class ReadyKind { AtOnce, Prints, Listens, After };

/// A program of the user on a simulated host. The next program of the list starts when this one is ready.
struct ProgramSpec {
    std::string name;
    PlaceRef host;
    std::string command_line;            ///< split by the shell's rules; "" if `arguments` are given
    std::vector<std::string> arguments;  ///< as they are
    SourcePosition command_position;
    ReadyKind ready = ReadyKind::AtOnce;
    std::string ready_pattern;  ///< of Prints: an ECMAScript regular expression
    int ready_port = 0;         ///< of Listens: TCP
    sim::SimTime ready_after;   ///< of After
    std::optional<int> expected_exit;
    std::string expected_output;  ///< a regular expression that its output must contain; "": none
    sim::SimTime timeout;
    std::string path;
    SourcePosition position;
};

struct SeriesSpec {
    sim::SimTime interval;
    std::vector<std::string> what;  ///< "queue", "rate", "utilisation", "pauses", "marks", "buffer"
    bool is_everywhere = true;
    std::vector<PlaceRef> at;  ///< else only here
};

struct OutputsSpec {
    bool flows = true;
    bool hpcc_fct = false;
    bool counters = true;
    bool perfetto = false;
    bool report = true;
    std::optional<SeriesSpec> series;
    std::vector<PlaceRef> pcap;  ///< ports
    bool timeline = false;
    uint64_t timeline_packets = 0;  ///< that it keeps
    SourcePosition timeline_position;
    std::string timeline_path;
};

enum class StopWhen { AllFlowsDone, Until };

struct RunSpec {
    std::optional<sim::SimTime> until;
    StopWhen stop_when = StopWhen::AllFlowsDone;
    int threads = 1;
    std::optional<sim::SimTime> window;  ///< of the engine; absent: the longest that is exact
    sim::SimTime warm_up;                ///< flows that start before are not measured
    sim::SimTime measure_from;           ///< at least warm_up
    std::optional<sim::SimTime> measure_until;
};

struct ScenarioSpec {
    /// Name, description, file, seed, clock; hosts, switches and links unless topology.is_fabric.
    LabSpec lab;
    TopologySpec topology;
    TransportSpec transport;
    CcSpec cc;
    std::vector<WorkloadSpec> workloads;
    std::vector<ProgramSpec> programs;
    std::vector<AddressedFaultSpec> faults;
    std::vector<ExpectationSpec> expectations;
    OutputsSpec outputs;
    RunSpec run;

    /// What a sweep sets in this run, in the sweep's order: key → value. Empty without a sweep.
    std::vector<std::pair<std::string, std::string>> settings;
    /// "cc.algorithm=dcqcn,load=30%"; "" without a sweep.
    std::string run_name;
};

}  // namespace simverbs::scenarios
