#include "scenarios/import/connection_matrix.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>
#include <vector>

#include "scenarios/import/text_lines.hpp"
#include "scenarios/lang/did_you_mean.hpp"
#include "scenarios/topologies/topology.hpp"
#include "scenarios/workloads/plan_check.hpp"
#include "scenarios/workloads/workload_common.hpp"

namespace simverbs::scenarios::imports {

namespace {

constexpr std::string_view kConnectionLine = "'SRC->DST start PS size BYTES', for example '0->16 start 0 size 65536'";
constexpr std::string_view kTriggerLine = "'trigger id I oneshot', 'multishot' or 'barrier count C'";

enum class TriggerType { OneShot, MultiShot, Barrier };

/// A flow that fires a trigger when it has been sent (acknowledged) or received.
struct Feeder {
    flow::FlowIndex flow = 0;
    bool at_receiver = false;
};

struct Trigger {
    bool is_declared = false;
    TriggerType type = TriggerType::OneShot;
    uint32_t count = 0;
    SourcePosition place;  ///< where it is first named
    std::vector<Feeder> feeders;
    std::vector<flow::FlowIndex> targets;
};

class MatrixReader {
  public:
    MatrixReader(std::string_view text, std::string_view file, std::string_view group, DiagnosticSink& sink)
        : lines_(text, file), sink_(sink), problems_(lines_, sink) {
        result_.plan.groups.emplace_back(group);
    }

    std::optional<ConnectionMatrix> read() {
        const std::size_t problems_before = sink_.count();
        while (lines_.next_with_words()) read_line();
        check_count("connections", connections_, result_.plan.flows.size());
        if (triggers_announced_) check_count("triggers", triggers_announced_, declared_);
        if (result_.nodes == 0) problems_.add_line("the number of nodes is missing", "'Nodes N'");
        if (sink_.count() != problems_before) return std::nullopt;
        for (const auto& [id, trigger] : triggers_) link(id, trigger);
        if (sink_.count() != problems_before) return std::nullopt;
        if (const auto stuck = workloads::flows_that_never_start(result_.plan); !stuck.empty()) {
            problems_.add_line(fmt::format("{} flow(s) wait for themselves, the first one is number {}", stuck.size(),
                                           stuck.front() + 1),
                               "triggers without a cycle");
            return std::nullopt;
        }
        return std::move(result_);
    }

  private:
    void read_line() {
        const auto& words = lines_.words();
        const std::string_view first = words[0].text;
        if (first.starts_with('#')) return;
        if (first.find("->") != std::string_view::npos) return read_connection();
        if (first == "trigger") return read_trigger();
        if (first == "failure" || first == "Failures") {
            const bool has_none = first == "Failures" && words.size() == 2 && words[1].text == "0";
            if (!has_none) problems_.add(words[0], "failures are not read", "no failures", "use the scenario's faults");
            return;
        }
        const bool is_header = first == "Nodes" || first == "Connections" || first == "Triggers";
        if (!is_header || words.size() != 2) {
            problems_.add(words[0], fmt::format("{} begins no line", in_quotes(first)),
                          "'Nodes', 'Connections', 'Triggers', 'SRC->DST' or 'trigger'",
                          did_you_mean(first, {"Nodes", "Connections", "Triggers", "trigger"}));
            return;
        }
        const auto count = problems_.number<uint32_t>(words[1], "count", 0, workloads::kMaxFlows);
        if (!count) return;
        if (first == "Connections") connections_ = *count;
        if (first == "Triggers") triggers_announced_ = *count;
        if (first == "Nodes") {
            result_.nodes =
                problems_.number<uint32_t>(words[1], "number of nodes", 1, topologies::kMaxHosts).value_or(1);
        }
    }

    void read_connection() {
        const auto& words = lines_.words();
        flow::FlowSpec flow;
        if (!read_ends(words[0], flow)) return;
        if (words.size() % 2 == 0) {
            problems_.add_line(fmt::format("{} has no value", in_quotes(words.back().text)),
                               std::string(kConnectionLine));
            return;
        }
        bool has_start = false;
        bool has_size = false;
        std::vector<std::pair<uint32_t, bool>> fires;
        std::optional<uint32_t> waits_for;
        for (std::size_t i = 1; i + 1 < words.size(); i += 2) {
            const std::string_view key = words[i].text;
            const Word& value = words[i + 1];
            if (key == "id") {
                problems_.number<uint32_t>(value, "id", 0, UINT32_MAX);
            } else if (key == "start") {
                const auto start = problems_.number<int64_t>(value, "start (ps)", 0, INT64_MAX);
                flow.start = sim::SimTime::ps(start.value_or(0));
                has_start = true;
            } else if (key == "size") {
                flow.bytes = problems_.number<int64_t>(value, "size (0 would never end)", 1, INT64_MAX).value_or(1);
                has_size = true;
            } else if (key == "trigger") {
                waits_for = problems_.number<uint32_t>(value, "trigger", 0, UINT32_MAX);
                has_start = true;
            } else if (key == "send_done_trigger" || key == "recv_done_trigger") {
                const auto id = problems_.number<uint32_t>(value, "trigger", 0, UINT32_MAX);
                if (id) fires.emplace_back(*id, key == "recv_done_trigger");
            } else if (key == "prio") {
                const auto priority = problems_.number<uint32_t>(value, "priority", 0, workloads::kMaxEthernetPriority);
                flow.priority = static_cast<uint8_t>(priority.value_or(0));
            } else {
                problems_.add(words[i], fmt::format("unknown key {}", in_quotes(key)),
                              "id, start, size, trigger, send_done_trigger, recv_done_trigger or prio",
                              did_you_mean(key, {"id", "start", "size", "trigger", "send_done_trigger",
                                                 "recv_done_trigger", "prio"}));
            }
        }
        if (!has_start) problems_.add_line("neither start nor trigger is given", std::string(kConnectionLine));
        if (!has_size) problems_.add_line("the size is missing", std::string(kConnectionLine));
        const auto index = static_cast<flow::FlowIndex>(result_.plan.flows.size());
        for (const auto& [id, at_receiver] : fires) named(id).feeders.push_back({index, at_receiver});
        if (waits_for) named(*waits_for).targets.push_back(index);
        result_.plan.flows.push_back(flow);
    }

    bool read_ends(const Word& word, flow::FlowSpec& flow) {
        const auto arrow = word.text.find("->");
        if (result_.nodes == 0) {
            problems_.add(word, "a connection before the number of nodes", "'Nodes N' in the first line");
            return false;
        }
        const Word from{word.text.substr(0, arrow), word.column};
        const Word to{word.text.substr(arrow + 2), word.column + static_cast<int>(arrow) + 2};
        const auto src = problems_.number<uint32_t>(from, "node", 0, result_.nodes - 1);
        const auto dst = problems_.number<uint32_t>(to, "node", 0, result_.nodes - 1);
        if (src && dst && *src == *dst) problems_.add(word, "a node sends to itself", "two nodes");
        if (!src || !dst || *src == *dst) return false;
        flow.src = *src;
        flow.dst = *dst;
        return true;
    }

    void read_trigger() {
        const auto& words = lines_.words();
        if (words.size() < 4 || words[1].text != "id") {
            problems_.add_line("no trigger's line", std::string(kTriggerLine));
            return;
        }
        const auto id = problems_.number<uint32_t>(words[2], "trigger", 0, UINT32_MAX);
        if (!id) return;
        Trigger& trigger = named(*id);
        if (trigger.is_declared) problems_.add(words[2], fmt::format("trigger {} twice", *id), "once");
        trigger.is_declared = true;
        trigger.place = lines_.place(words[0].column);
        ++declared_;
        const std::string_view type = words[3].text;
        if (type == "barrier" && words.size() == 6 && words[4].text == "count") {
            trigger.type = TriggerType::Barrier;
            trigger.count = problems_.number<uint32_t>(words[5], "count", 1, workloads::kMaxFlows).value_or(1);
        } else if ((type == "oneshot" || type == "multishot") && words.size() == 4) {
            trigger.type = type == "oneshot" ? TriggerType::OneShot : TriggerType::MultiShot;
        } else {
            problems_.add(words[3], fmt::format("{} is no kind of trigger", in_quotes(type)), std::string(kTriggerLine),
                          did_you_mean(type, {"oneshot", "multishot", "barrier"}));
        }
    }

    Trigger& named(uint32_t id) {
        const auto [found, is_new] = triggers_.try_emplace(id);
        if (is_new) found->second.place = lines_.place();
        return found->second;
    }

    void check_count(std::string_view what, std::optional<uint32_t> announced, std::size_t found) {
        if (announced && *announced == found) return;
        if (!announced) return problems_.add_line(fmt::format("the number of {} is missing", what), "'Connections M'");
        problems_.add_line(fmt::format("{} {} announced, {} found", *announced, what, found), "the same number");
    }

    /// A trigger's dependencies.
    void link(uint32_t id, const Trigger& trigger) {
        const auto problem = [&](std::string text, std::string expected) {
            sink_.add(trigger.place, {}, fmt::format("trigger {} {}", id, text), std::move(expected));
        };
        if (!trigger.is_declared) return problem("is not declared", fmt::format("'trigger id {} oneshot'", id));
        if (trigger.targets.empty()) return;
        if (trigger.type == TriggerType::MultiShot) return link_multishot(trigger, problem);
        const std::size_t needed = trigger.type == TriggerType::Barrier ? trigger.count : 1;
        if (trigger.feeders.size() != needed) {
            return problem(fmt::format("is fired by {} flow(s)", trigger.feeders.size()), fmt::format("{}", needed));
        }
        // Feeders x targets dependencies: a hostile file could ask for more than memory.
        const uint64_t count = uint64_t{trigger.feeders.size()} * trigger.targets.size();
        if (count + result_.plan.dependencies.size() > workloads::kMaxDependencies) {
            return problem("has too many flows", fmt::format("at most {} dependencies", workloads::kMaxDependencies));
        }
        for (const Feeder& feeder : trigger.feeders) {
            for (const flow::FlowIndex target : trigger.targets) add_dependency(feeder, target, problem);
        }
    }

    template <class Problem>
    void link_multishot(const Trigger& trigger, const Problem& problem) {
        if (trigger.feeders.size() < trigger.targets.size()) {
            return problem(
                fmt::format("is fired by {} flow(s) for {} that wait", trigger.feeders.size(), trigger.targets.size()),
                "at least as many as wait");
        }
        for (std::size_t i = 0; i < trigger.targets.size(); ++i) {
            add_dependency(trigger.feeders[i], trigger.targets[i], problem);
        }
    }

    template <class Problem>
    void add_dependency(const Feeder& feeder, flow::FlowIndex target, const Problem& problem) {
        const flow::FlowSpec& before = result_.plan.flows[feeder.flow];
        const flow::HostIndex knows = feeder.at_receiver ? before.dst : before.src;
        if (result_.plan.flows[target].src != knows) {
            return problem(
                fmt::format("fires at node {} and starts a flow of node {}", knows, result_.plan.flows[target].src),
                "a flow of the node that knows");
        }
        result_.plan.dependencies.push_back({feeder.flow, target});
    }

    TextLines lines_;
    DiagnosticSink& sink_;
    LineProblems problems_;
    std::optional<uint32_t> connections_;
    std::optional<uint32_t> triggers_announced_;
    std::size_t declared_ = 0;
    std::map<uint32_t, Trigger> triggers_;
    ConnectionMatrix result_;
};

}  // namespace

std::optional<ConnectionMatrix> read_connection_matrix(std::string_view text, std::string_view file,
                                                       std::string_view group, DiagnosticSink& sink) {
    if (!check_is_text(text, file, sink)) return std::nullopt;
    return MatrixReader(text, file, group, sink).read();
}

}  // namespace simverbs::scenarios::imports
