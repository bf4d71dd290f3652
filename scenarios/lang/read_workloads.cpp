#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "scenarios/lang/did_you_mean.hpp"
#include "scenarios/lang/scenario_reading.hpp"
#include "scenarios/lang/scenario_schemas.hpp"

namespace simverbs::scenarios {

namespace {

constexpr std::string_view kWorkloadPrefix = "workload ";
/// Distributions of FACTS §2.2; whoever makes the flows has their tables.
constexpr std::array<std::string_view, 3> kBuiltInCdfs{"websearch", "fbhadoop", "alistorage"};

/// perftest's, of its bandwidth tests.
constexpr int64_t kDefaultIterations = 5000;

std::string_view kind_of(const ComponentSchema& schema) {
    return schema.name.substr(kWorkloadPrefix.size());
}

/// The schema of the workload's kind; nullptr after a report.
const ComponentSchema* find_kind(const YamlValue& node, const std::string& path, DiagnosticSink& sink) {
    std::string all;
    std::vector<std::string_view> kinds;
    for (const ComponentSchema* schema : workload_schemas()) {
        kinds.push_back(kind_of(*schema));
        all += (all.empty() ? "one of " : ", ") + std::string(kinds.back());
    }
    if (node.kind != YamlKind::Map) {
        report_wrong_shape(node, path, "a map with 'kind'", sink);
        return nullptr;
    }
    const YamlValue* kind = node.find("kind");
    if (kind == nullptr) {
        sink.add(node.position, path, "the key 'kind' is missing", all);
        return nullptr;
    }
    if (kind->kind != YamlKind::Scalar) {
        report_wrong_shape(*kind, child_path(path, "kind"), all, sink);
        return nullptr;
    }
    const auto found = std::find(kinds.begin(), kinds.end(), kind->text);
    if (found != kinds.end()) return workload_schemas()[static_cast<std::size_t>(found - kinds.begin())];
    sink.add(kind->position, child_path(path, "kind"), in_quotes(kind->text) + " is not a workload", all,
             did_you_mean(kind->text, kinds));
    return nullptr;
}

/// One workload while it is read.
struct WorkloadReader {
    ScenarioReading& reading;
    const Section& section;
    WorkloadSpec& out;

    [[nodiscard]] bool knows(std::string_view key) const { return section.schema().find(key) != nullptr; }

    void wrong(std::string_view key, std::string problem, std::string expected) const {
        reading.sink.add(section.position(key), section.path(key), std::move(problem), std::move(expected));
    }

    /// A DSCP instead of a priority.
    [[nodiscard]] std::optional<int> read_dscp(const Section& where) const {
        where.refuse_both("priority", "dscp", reading.sink);
        return where.has("dscp") ? std::optional(static_cast<int>(where.integer("dscp"))) : std::nullopt;
    }
    void read() {
        out.values = Values(section);
        if (knows("start")) out.start = section.time("start");
        out.priority = static_cast<int>(section.integer("priority"));
        out.dscp = read_dscp(section);
        if (knows("src")) out.src = read_host_ref(reading, section, "src");
        if (knows("dst")) out.dst = read_host_ref(reading, section, "dst");
        if (out.src && out.dst && out.src->text == out.dst->text) {
            wrong("dst", "a host does not send to itself through the network", "another host than 'src'");
        }
        for (const std::string_view key : {"hosts", "ranks"}) {
            if (!knows(key)) continue;
            const std::size_t errors_before = reading.sink.count();
            out.hosts = read_host_set(reading, section, key);
            if (reading.sink.count() == errors_before) check_set(out.hosts, key, 2);
        }
        if (out.kind == "incast") read_incast();
        if (out.kind == "poisson") read_poisson();
        if (out.kind == "perftest" && section.writes("iterations") && section.writes("duration")) {
            wrong("duration", "both 'iterations' and 'duration' are given", "either 'iterations' or 'duration'");
        }
        if (out.kind == "perftest" && !section.has("iterations") && !section.has("duration")) {
            out.values.set("iterations", {FieldKind::Integer, kDefaultIterations, false, section.path("iterations"),
                                          section.position()});
        }
        if (out.kind == "halving_doubling_all_reduce") check_power_of_two();
        if (out.kind == "flows") read_flows();
        if (knows("file") && section.has("file")) {
            out.file =
                read_file_name(section.text("file"), section.position("file"), section.path("file"), reading.sink);
        }
    }

    /// Nobody takes part twice, and there are enough.
    void check_set(const HostSet& set, std::string_view key, int64_t least) const {
        std::set<std::string_view> names;
        for (const PlaceRef& host : set.hosts) {
            if (names.insert(host.text).second) continue;
            reading.sink.add(host.position, host.path, fmt::format("'{}' is listed twice", host.text));
        }
        const auto size = size_of(set);
        if (size && *size<least&& * size> 0) {
            wrong(key, fmt::format("{} host(s) are too few", *size), fmt::format("at least {}", least));
        }
    }

    /// How many hosts a set has; nullopt if that is not known or was wrong.
    [[nodiscard]] std::optional<int64_t> size_of(const HostSet& set) const {
        if (set.is_all) return host_count(reading);
        if (set.count > 0) return set.count;
        if (set.hosts.empty()) return std::nullopt;
        return static_cast<int64_t>(set.hosts.size());
    }

    void read_incast() {
        out.receiver = read_host_ref(reading, section, "receiver");
        out.senders = read_host_set(reading, section, "senders");
        check_set(out.senders, "senders", 1);
        if (section.integer("bursts") > 1 && !section.writes("period")) {
            wrong("bursts", "the time from burst to burst is not said", "also 'period'");
        }
        if (!out.receiver) return;
        for (const PlaceRef& sender : out.senders.hosts) {
            if (sender.text != out.receiver->text) continue;
            reading.sink.add(sender.position, sender.path, fmt::format("'{}' is the receiver", sender.text),
                             "another host");
        }
        const auto hosts = host_count(reading);
        if (hosts && out.senders.count > *hosts - 1) {
            wrong("senders", fmt::format("'{}' is more than there are beside the receiver", out.senders.count),
                  fmt::format("1 to {}", *hosts - 1));
        }
    }

    void read_poisson() {
        if (section.has("until")) {
            out.start = section.time("from");
            if (section.time("until") <= section.time("from"))
                wrong("until", "ends before it begins", "a time after 'from'");
        }
        if (section.has("load") && section.probability("load") <= 0) {
            wrong("load", "no load at all", "a share above 0 %");
        }
        if (!section.has("cdf")) return;
        const std::string cdf = section.text("cdf");
        if (std::find(kBuiltInCdfs.begin(), kBuiltInCdfs.end(), cdf) != kBuiltInCdfs.end()) return;
        if (is_name(cdf)) {
            reading.sink.add(section.position("cdf"), section.path("cdf"), in_quotes(cdf) + " is not a distribution",
                             "one of websearch, fbhadoop, alistorage, or a file such as 'sizes.txt' or './sizes'",
                             did_you_mean(cdf, {kBuiltInCdfs.begin(), kBuiltInCdfs.end()}));
            return;
        }
        out.file = read_file_name(cdf, section.position("cdf"), section.path("cdf"), reading.sink);
    }

    void check_power_of_two() const {
        const auto ranks = size_of(out.hosts);
        if (!ranks || (*ranks & (*ranks - 1)) == 0) return;
        wrong("ranks", fmt::format("{} ranks are not a power of two", *ranks), "2, 4, 8, … ranks");
    }

    void read_flows() {
        const std::vector<YamlPtr> items = read_list(section, "flows", reading.sink);
        if (items.empty() && section.has("flows"))
            wrong("flows", "has no flow", "a list of maps with 'src', 'dst' and 'bytes'");
        for (std::size_t i = 0; i < items.size(); ++i) {
            const std::string path = item_path(section.path("flows"), i);
            if (items[i]->kind == YamlKind::Null) {
                report_wrong_shape(*items[i], path, "a map with 'src', 'dst' and 'bytes'", reading.sink);
                continue;
            }
            read_flow(Section(kFlowEntrySchema, *items[i], path, reading.sink));
        }
    }

    void read_flow(const Section& flow) {
        auto src = read_host_ref(reading, flow, "src");
        auto dst = read_host_ref(reading, flow, "dst");
        if (!src || !dst) return;
        if (src->text == dst->text) {
            reading.sink.add(dst->position, dst->path, "a host does not send to itself through the network",
                             "another host than 'src'");
        }
        FlowEntry entry;
        entry.src = std::move(*src);
        entry.dst = std::move(*dst);
        entry.bytes = flow.size("bytes");
        entry.start = flow.time("start");
        if (flow.has("priority")) entry.priority = static_cast<int>(flow.integer("priority"));
        entry.dscp = read_dscp(flow);
        entry.path = flow.path();
        entry.position = flow.position("priority");
        out.flows.push_back(std::move(entry));
    }
};

void name_workload(ScenarioReading& reading, const Section& section, WorkloadSpec& workload) {
    const auto is_taken = [&](std::string_view name) {
        return std::any_of(reading.spec.workloads.begin(), reading.spec.workloads.end(),
                           [&](const WorkloadSpec& other) { return other.name == name; });
    };
    if (section.has("name")) {
        workload.name = section.text("name");
        if (!is_taken(workload.name)) return;
        reading.sink.add(section.position("name"), section.path("name"),
                         fmt::format("the name '{}' is taken", workload.name), "a name of its own");
        return;
    }
    if (section.writes("name")) reading.workload_names_are_complete = false;
    workload.name = workload.kind;
    for (int i = 1; is_taken(workload.name); ++i) workload.name = fmt::format("{}_{}", workload.kind, i);
}

}  // namespace

void read_workloads(ScenarioReading& reading, const Section& scenario) {
    const std::vector<YamlPtr> items = read_list(scenario, "workloads", reading.sink);
    for (std::size_t i = 0; i < items.size(); ++i) {
        const std::string path = item_path(scenario.path("workloads"), i);
        const ComponentSchema* schema = find_kind(*items[i], path, reading.sink);
        if (schema == nullptr) {
            reading.workload_names_are_complete = false;
            continue;
        }
        const std::size_t before = reading.sink.reports();
        const Section section(*schema, *items[i], path, reading.sink);
        WorkloadSpec workload;
        workload.kind = kind_of(*schema);
        workload.path = path;
        workload.position = section.position();
        name_workload(reading, section, workload);
        WorkloadReader{reading, section, workload}.read();
        workload.is_complete = reading.sink.reports() == before;
        reading.spec.workloads.push_back(std::move(workload));
    }
}

}  // namespace simverbs::scenarios
