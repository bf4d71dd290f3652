#include "scenarios/lang/scenario_loader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "scenarios/lang/scenario_expansion.hpp"
#include "scenarios/lang/scenario_reading.hpp"
#include "scenarios/lang/scenario_schemas.hpp"
#include "scenarios/lang/tree_edit.hpp"

namespace simverbs::scenarios {

namespace {

constexpr int kMostEthernetPriority = 7;
constexpr std::array<std::string_view, 12> kEthernetSwitchKeys{
    "cell",     "alpha",   "a_shift",        "pfc",         "ecn",      "scheduler",
    "dscp_map", "pcp_map", "load_balancing", "flowlet_gap", "trimming", "int"};
constexpr std::array<std::string_view, 5> kInfiniBandSwitchKeys{"vl_buffer", "vl_arbitration", "sl2vl", "fecn",
                                                                "path_policy"};

/// The link layer that all NICs have in common, if there is one.
std::optional<LinkLayer> common_layer(const LabReading& network) {
    std::optional<LinkLayer> found;
    const auto see = [&](const HostSpec& host) {
        for (const NicSpec& nic : host.nics) {
            if (found && *found != nic.link_layer) return false;
            found = nic.link_layer;
        }
        return true;
    };
    if (network.topology.is_fabric) return see(network.topology.host) ? found : std::nullopt;
    return std::all_of(network.lab.hosts.begin(), network.lab.hosts.end(), see) ? found : std::nullopt;
}

/// What a workload's packets ask for must exist on the link layer.
void check_service(const ScenarioReading& reading, bool is_ethernet, int priority, const std::optional<int>& dscp,
                   const SourcePosition& position, const std::string& path) {
    if (is_ethernet && priority > kMostEthernetPriority) {
        reading.sink.add(position, child_path(path, "priority"), fmt::format("Ethernet has no priority {}", priority),
                         "0 to 7");
    }
    if (!is_ethernet && dscp) {
        reading.sink.add(position, child_path(path, "dscp"), "'dscp' has no meaning on InfiniBand", {},
                         "give an SL as 'priority'");
    }
}

/// Keys of a switch that the link layer does not have.
void refuse_keys(const ScenarioReading& reading, bool is_ethernet, const YamlValue& node, const std::string& path) {
    if (node.kind != YamlKind::Map) return;
    const auto refuse = [&](std::string_view key) {
        const YamlValue* value = node.find(key);
        if (value == nullptr) return;
        reading.sink.add(
            value->position, child_path(path, key),
            fmt::format("'{}' has no meaning on {}", key, is_ethernet ? "Ethernet" : "InfiniBand"), {},
            fmt::format("remove it, or set 'nic.link_layer: {}'", is_ethernet ? "InfiniBand" : "Ethernet"));
    };
    if (is_ethernet)
        std::for_each(kInfiniBandSwitchKeys.begin(), kInfiniBandSwitchKeys.end(), refuse);
    else
        std::for_each(kEthernetSwitchKeys.begin(), kEthernetSwitchKeys.end(), refuse);
}

/// Keys of the switches and priorities that the link layer does not have.
void check_layer(const ScenarioReading& reading, const Section& scenario) {
    const auto layer = common_layer(reading.network);
    if (!layer) return;
    const bool is_ethernet = *layer == LinkLayer::Ethernet;
    if (const YamlValue* node = scenario.node("switch")) refuse_keys(reading, is_ethernet, *node, "switch");
    if (const YamlValue* node = scenario.node("switches")) {
        for (std::size_t i = 0; i < node->items.size(); ++i)
            refuse_keys(reading, is_ethernet, *node->items[i], item_path("switches", i));
        for (const YamlEntry& entry : node->entries)
            refuse_keys(reading, is_ethernet, *entry.value, child_path("switches", entry.key));
    }
    for (const WorkloadSpec& workload : reading.spec.workloads) {
        const CheckedValue* priority = workload.values.find("priority");
        const SourcePosition& position = priority != nullptr ? priority->position : workload.position;
        check_service(reading, is_ethernet, workload.priority, workload.dscp, position, workload.path);
        for (const FlowEntry& f : workload.flows)
            check_service(reading, is_ethernet, f.priority.value_or(0), f.dscp, f.position, f.path);
    }
}

/// A subnet manager has one policy, which `switch` tells; that of a switch among `switches` would have no effect.
void check_path_policy(const ScenarioReading& reading) {
    for (const SwitchSpec& s : reading.network.lab.switches) {
        if (s.queueing.path_policy == reading.network.topology.switch_.queueing.path_policy) continue;
        reading.sink.add(s.position, child_path(s.path, "path_policy"), "a subnet has one path policy for all switches",
                         "it in the section 'switch'");
    }
}

void read_scenario(const Section& section, const ScenarioOptions& options, ScenarioDraft& draft) {
    ScenarioSpec& spec = draft.spec;
    DiagnosticSink& sink = draft.errors;
    LabReading network{options.lab, sink};
    network.level = LanguageLevel::Scenario;
    read_lab_parts(network, section);
    ScenarioReading reading{options, network, spec, sink};
    read_transport(reading, section);
    read_cc(reading, section);
    read_workloads(reading, section);
    read_programs(reading, section);
    read_addressed_faults(reading, section);
    read_expectations(reading, section);
    read_outputs(reading, section);
    read_run(reading, section);
    check_layer(reading, section);
    check_path_policy(reading);
    spec.lab = std::move(network.lab);
    spec.topology = std::move(network.topology);
    draft.has_network = network.has_wiring;
    draft.has_workloads = reading.workload_names_are_complete;
    draft.names_of_wrong_expectations = std::move(reading.names_of_wrong_expectations);
}

std::string run_name_of(const std::vector<std::pair<std::string, std::string>>& settings) {
    std::string name;
    for (const auto& [key, value] : settings) name += (name.empty() ? "" : ",") + key + "=" + value;
    return name;
}

std::vector<ScenarioDraft> read_drafts(const YamlPtr& root, const ScenarioOptions& options, DiagnosticSink& sink) {
    std::vector<ScenarioDraft> drafts;
    if (root == nullptr) return drafts;
    if (root->kind != YamlKind::Map) {
        report_wrong_shape(*root, {}, "a map that describes a scenario", sink);
        return drafts;
    }
    for (ExpandedRun& run : expand_scenario(root, options.settings, sink)) {
        if (sink.is_full()) break;
        // Errors of its own: a mistake that another run had too still keeps this run from what would follow from it.
        ScenarioDraft draft;
        const Section section(kScenarioSchema, *run.root, {}, draft.errors);
        read_scenario(section, options, draft);
        sink.merge(draft.errors);
        draft.spec.run_name = run_name_of(run.settings);
        draft.spec.settings = std::move(run.settings);
        drafts.push_back(std::move(draft));
    }
    return drafts;
}

std::optional<std::vector<ScenarioSpec>> specs_of(std::vector<ScenarioDraft> drafts, std::size_t errors_before,
                                                  const DiagnosticSink& sink) {
    if (sink.count() != errors_before) return std::nullopt;
    std::vector<ScenarioSpec> specs;
    specs.reserve(drafts.size());
    for (ScenarioDraft& draft : drafts) specs.push_back(std::move(draft.spec));
    return specs;
}

std::string counted(std::size_t count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace

std::optional<std::vector<ScenarioSpec>> load_scenario(const std::string& path, const ScenarioOptions& options,
                                                       DiagnosticSink& sink) {
    const std::size_t errors_before = sink.count();
    return specs_of(load_drafts(path, options, sink), errors_before, sink);
}

std::optional<std::vector<ScenarioSpec>> parse_scenario(std::string_view text, std::string_view file_name,
                                                        const ScenarioOptions& options, DiagnosticSink& sink) {
    const std::size_t errors_before = sink.count();
    return specs_of(parse_drafts(text, file_name, options, sink), errors_before, sink);
}

std::vector<ScenarioDraft> load_drafts(const std::string& path, const ScenarioOptions& options, DiagnosticSink& sink) {
    return read_drafts(load_with_includes(path, sink), options, sink);
}

std::vector<ScenarioDraft> parse_drafts(std::string_view text, std::string_view file_name,
                                        const ScenarioOptions& options, DiagnosticSink& sink) {
    return read_drafts(parse_with_includes(text, file_name, sink), options, sink);
}

std::string summary_of(const std::vector<ScenarioSpec>& runs) {
    if (runs.empty()) return {};
    const ScenarioSpec& first = runs.front();
    std::string out = first.lab.name + ":";
    if (runs.size() > 1) out += fmt::format(" {} of", counted(runs.size(), "run"));
    if (!first.topology.is_fabric) {
        out += fmt::format(" {},", counted(first.lab.hosts.size(), "host"));
    } else if (first.topology.host_count) {
        out += fmt::format(" {},", counted(static_cast<std::size_t>(*first.topology.host_count), "host"));
    }
    for (const auto& [count, noun] :
         {std::pair{first.workloads.size(), "workload"}, std::pair{first.programs.size(), "program"},
          std::pair{first.faults.size(), "fault"}, std::pair{first.expectations.size(), "expectation"}}) {
        if (count > 0) out += fmt::format(" {},", counted(count, noun));
    }
    out.pop_back();
    return out;
}

}  // namespace simverbs::scenarios
