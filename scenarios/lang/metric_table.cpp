#include "scenarios/lang/metric_table.hpp"

#include <array>

namespace simverbs::scenarios {

namespace {

using U = MetricUnit;
using S = SelectorKind;

constexpr SelectorSet kOfFlows(S::Run, S::Group, S::Flow, S::Host);
constexpr SelectorSet kOfGroups(S::Run, S::Group);
constexpr SelectorSet kOfPorts(S::Run, S::Host, S::Switch, S::Link, S::Port);
constexpr SelectorSet kOfQueues(S::Run, S::Host, S::Switch, S::Link, S::Port, S::Queue);
constexpr SelectorSet kOfSwitches(S::Run, S::Switch);
constexpr SelectorSet kOfSlots(S::Run, S::Host, S::Slot);
constexpr SelectorSet kOfRun(S::Run);

constexpr std::array kMetrics{
    // flows
    MetricInfo{"fct", U::Time, kOfFlows, "mean", "Flow completion time: creation to last ACK."},
    MetricInfo{"fct.slowdown", U::Number, kOfFlows, "mean", "Flow completion time over that of the empty network."},
    MetricInfo{"goodput", U::Rate, kOfFlows, "mean",
               "Payload delivered over the time that a flow was active; of a group or host, of each of its flows."},
    MetricInfo{"throughput", U::Rate, kOfFlows, "", "Payload delivered by all selected flows over the time measured."},
    MetricInfo{"rate", U::Rate, kOfFlows, "mean", "Sending rate that congestion control allows, sampled."},
    MetricInfo{"rtt", U::Time, kOfFlows, "mean",
               "Round trip times, of one packet of a flow at a time; the last one at each sample."},
    MetricInfo{"fairness", U::Ratio, kOfGroups, "", "Jain's index of the flows' goodputs: 1 if all are equal."},
    MetricInfo{"duration", U::Time, kOfFlows, "", "From the first start to the last completion."},
    MetricInfo{"bus_bandwidth", U::Rate, kOfGroups, "mean",
               "Of a collective, as nccl-tests define it, one value an iteration."},
    MetricInfo{"flows", U::Count, kOfFlows, "", "How many flows there are."},
    MetricInfo{"completed", U::Count, kOfFlows, "", "Flows that ended in success."},
    MetricInfo{"unfinished", U::Count, kOfFlows, "", "Flows that were still running at the end."},
    MetricInfo{"errors", U::Count, kOfFlows, "", "Flows that ended in an error."},
    MetricInfo{"bytes", U::Size, kOfFlows, "", "Payload delivered."},
    MetricInfo{"retransmissions", U::Count, kOfFlows, "", "Data packets sent again."},
    MetricInfo{"timeouts", U::Count, kOfFlows, "", "Retransmission timeouts."},
    MetricInfo{"naks", U::Count, kOfFlows, "", "NAKs received by senders."},
    MetricInfo{"cnps", U::Count, kOfFlows, "", "CNPs (InfiniBand: BECNs) received by senders."},
    // links and ports
    MetricInfo{"utilisation", U::Ratio, kOfPorts, "mean", "Share of a link's time in which it carried bits, each way."},
    MetricInfo{"packets", U::Count, kOfPorts, "", "Packets sent."},
    MetricInfo{"pfc_pauses", U::Count, kOfQueues, "", "PFC frames with a pause time above 0 that were sent."},
    MetricInfo{"paused_time", U::Time, kOfQueues, "", "Time in which sending was paused by the other side."},
    MetricInfo{"credit_wait", U::Time, kOfQueues, "", "InfiniBand: time in which packets waited for credits."},
    MetricInfo{"corrupted", U::Count, kOfPorts, "", "Packets discarded because bits were wrong."},
    // queues and buffers
    MetricInfo{"queue", U::Size, kOfQueues, "max", "Bytes waiting at an egress, sampled."},
    MetricInfo{"queueing_delay", U::Time, kOfQueues, "mean",
               "Time that packets wait in the queues of switches; percentiles to 1 %."},
    MetricInfo{"drops", U::Count, kOfQueues, "", "Packets dropped for want of buffer, in any class."},
    MetricInfo{"lossless_drops", U::Count, kOfQueues, "",
               "Packets of a lossless class dropped: the headroom is too small."},
    MetricInfo{"trims", U::Count, kOfQueues, "", "Packets whose payload was trimmed."},
    MetricInfo{"ecn_marks", U::Count, kOfQueues, "", "Packets marked CE (InfiniBand: FECN)."},
    MetricInfo{"buffer", U::Size, kOfSwitches, "max", "Bytes in a switch's buffer, sampled."},
    MetricInfo{"headroom", U::Size, kOfQueues, "max",
               "Bytes in the headroom of a switch's ingress; the highest exactly, all else sampled."},
    MetricInfo{"watchdog_drops", U::Count, kOfQueues, "", "Packets that the PFC watchdog dropped."},
    MetricInfo{"pause_storms", U::Count, kOfQueues, "", "Pause storms that were detected."},
    // insides of hosts
    MetricInfo{"pcie.utilisation", U::Ratio, kOfSlots, "mean",
               "Share of a PCIe link's time in which it carried TLPs, of its busier way (hosts with a `platform`)."},
    MetricInfo{"pcie.bytes", U::Size, kOfSlots, "", "Data that passed PCIe links, both ways together."},
    MetricInfo{"pcie.tlps", U::Count, kOfSlots, "", "TLPs that passed PCIe links, both ways together."},
    // the run
    MetricInfo{"deadlocks", U::Count, kOfRun, "", "Cycles of queues that wait for each other."},
    MetricInfo{"simulated_time", U::Time, kOfRun, "", "Simulated time at the end of the run."},
    MetricInfo{"packet_hops", U::Count, kOfRun, "", "Data and ACK packets over links."},
};

}  // namespace

std::span<const MetricInfo> metrics() noexcept {
    return kMetrics;
}

const MetricInfo* find_metric(std::string_view name) noexcept {
    for (const MetricInfo& info : kMetrics) {
        if (info.name == name) return &info;
    }
    return nullptr;
}

std::string_view selector_name(SelectorKind kind) noexcept {
    switch (kind) {
        case SelectorKind::Run:
            return "the run";
        case SelectorKind::Group:
            return "group";
        case SelectorKind::Flow:
            return "flow";
        case SelectorKind::Host:
            return "host";
        case SelectorKind::Switch:
            return "switch";
        case SelectorKind::Link:
            return "link";
        case SelectorKind::Port:
            return "port";
        case SelectorKind::Queue:
            return "queue";
        case SelectorKind::Slot:
            return "slot";
    }
    return "";
}

}  // namespace simverbs::scenarios
