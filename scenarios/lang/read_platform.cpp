#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <functional>
#include <utility>

#include "scenarios/lang/did_you_mean.hpp"
#include "scenarios/lang/lab_reading.hpp"
#include "scenarios/lang/lab_schemas.hpp"
#include "scenarios/lang/platform.hpp"
#include "scenarios/lang/platform_schemas.hpp"
#include "scenarios/lang/tree_edit.hpp"

namespace simverbs::scenarios {

namespace {

constexpr size_t kMostLike = 16;
constexpr std::string_view kLikeKey = "like", kNameKey = "name";

bool names_a_file(std::string_view text) {
    return text.find('/') != std::string_view::npos || text.ends_with(".yaml") || text.ends_with(".yml");
}

/// The map of a platform, with what those that it is like say.
class PlatformFinder {
  public:
    explicit PlatformFinder(LabReading& reading) : reading_(reading) {}

    /// nullptr after a report.
    YamlPtr find(const YamlValue& node, const std::string& path) {
        if (node.kind == YamlKind::Scalar) return named(node, path);
        if (node.kind != YamlKind::Map) {
            report_wrong_shape(node, path, "the name of a platform, a file or a map", reading_.sink);
            return nullptr;
        }
        auto map = std::make_shared<YamlValue>(node);
        const YamlValue* like = node.find(kLikeKey);
        if (like == nullptr) return map;
        const std::string like_path = child_path(path, kLikeKey);
        if (like->kind != YamlKind::Scalar) {
            report_wrong_shape(*like, like_path, "the name of a platform or a file", reading_.sink);
            return nullptr;
        }
        const YamlPtr base = named(*like, like_path);
        return base == nullptr ? nullptr : merged(base, without_key(map, kLikeKey));
    }

  private:
    YamlPtr named(const YamlValue& node, const std::string& path) {
        if (names_a_file(node.text)) return from_file(node, path);
        std::vector<std::string_view> names;
        std::string all;
        for (const KnownPlatform& known : reading_.options.platforms) {
            if (known.name == node.text) return from_text(known.text, known.file, node, path);
            names.push_back(known.name);
            all += (all.empty() ? "one of " : ", ") + known.name;
        }
        reading_.sink.add(node.position, path, in_quotes(node.text) + " is not a platform",
                          all + (all.empty() ? "" : ", or ") + "the path of a platform file",
                          did_you_mean(node.text, names));
        return nullptr;
    }

    YamlPtr from_file(const YamlValue& node, const std::string& path) {
        const size_t before = reading_.sink.reports();
        const std::string file = read_file_name(node.text, node.position, path, reading_.sink);
        std::string text;
        if (reading_.sink.reports() != before || !read_text_file(file, text, reading_.sink)) return nullptr;
        return from_text(text, file, node, path);
    }

    YamlPtr from_text(std::string_view text, const std::string& file, const YamlValue& node, const std::string& path) {
        const bool is_open = std::find(open_.begin(), open_.end(), file) != open_.end();
        if (is_open || open_.size() >= kMostLike) {
            reading_.sink.add(node.position, path,
                              is_open ? fmt::format("the platform {} is like itself", in_quotes(node.text))
                                      : std::string("too many platforms, each like the next"));
            return nullptr;
        }
        const YamlPtr root = parse_yaml(text, file, reading_.sink);
        if (root == nullptr) return nullptr;
        if (root->kind != YamlKind::Map) {
            report_wrong_shape(*root, {}, "a map that describes a platform", reading_.sink);
            return nullptr;
        }
        open_.push_back(file);
        const YamlPtr map = find(*root, {});
        open_.pop_back();
        return root->find(kNameKey) == nullptr ? with_name(map, file) : map;
    }

    /// Called as its file.
    static YamlPtr with_name(const YamlPtr& map, const std::string& file) {
        const std::string stem = std::filesystem::path(file).stem().string();
        if (map == nullptr || !is_name(stem)) return map;
        auto named = std::make_shared<YamlValue>(*without_key(map, kNameKey));
        auto name = std::make_shared<YamlValue>();
        name->kind = YamlKind::Scalar;
        name->position = map->position;
        name->text = stem;
        named->entries.push_back({std::string(kNameKey), map->position, std::move(name)});
        return named;
    }

    LabReading& reading_;
    std::vector<std::string> open_;
};

class PlatformReader {
  public:
    PlatformReader(LabReading& reading, const YamlValue& node, std::string path)
        : sink_(reading.sink), section_(kPlatformSchema, node, std::move(path), reading.sink) {}

    Platform read() {
        host::PlatformSpec& to = out_.inside;
        to.name = section_.has("name") ? section_.text("name") : "platform";
        to.description = section_.text("description");
        read_numa();
        read_bridges();
        read_numa_links();
        read_switches();
        read_slots();
        read_gpus();
        read_nvlink();
        read_iommu();
        read_cpu();
        read_driver();
        return std::move(out_);
    }

  private:
    /// The parts that `key` lists; `count` nameless ones where the platform does not say.
    std::vector<NamedPart> parts(std::string_view key, int64_t most, std::string_view stem, size_t count,
                                 bool number_allowed) {
        std::vector<NamedPart> list;
        if (const YamlValue* node = section_.node(key); node != nullptr) {
            const size_t before = sink_.count();
            const PartsRule rule{expected_shape(kPlatformSchema, key), "name", most, number_allowed};
            list = read_named_parts(rule, *node, section_.path(key), sink_);
            names_are_complete_ = names_are_complete_ && sink_.count() == before;
        } else {
            for (size_t i = 0; i < count; ++i)
                list.push_back({"", section_.position(), &null_value(), section_.path(key)});
        }
        for (size_t i = 0; i < list.size(); ++i)
            if (list[i].name.empty()) list[i].name = std::string(stem) + std::to_string(i);
        return list;
    }

    /// Bridges, switches and slots are found by their names, and so are nodes and GPUs.
    template <class List>
    void check_new(const List& list, const NamedPart& part, std::string_view what) {
        const bool taken = std::any_of(list.begin(), list.end(), [&](const auto& e) { return e.name == part.name; });
        if (taken)
            sink_.add(part.name_position, part.path, fmt::format("there are two {} '{}'", what, part.name),
                      "a name of its own");
    }

    /// Which of `names` the text of `key` is; nullopt after a report.
    std::optional<uint16_t> index_of(const Section& from, std::string_view key, std::string_view what,
                                     const std::vector<std::string_view>& names) {
        if (!from.has(key)) return std::nullopt;
        const std::string text = from.text(key);
        for (size_t i = 0; i < names.size(); ++i)
            if (names[i] == text) return static_cast<uint16_t>(i);
        if (!names_are_complete_) return std::nullopt;
        std::string all;
        for (const std::string_view name : names) all += (all.empty() ? "one of " : ", ") + std::string(name);
        sink_.add(from.position(key), from.path(key), fmt::format("there is no {} {}", what, in_quotes(text)),
                  all.empty() ? fmt::format("a platform with a {}", what) : all, did_you_mean(text, names));
        return std::nullopt;
    }
    template <class List>
    static std::vector<std::string_view> names_of(const List& list) {
        std::vector<std::string_view> names;
        for (const auto& e : list) names.push_back(e.name);
        return names;
    }

    void read_numa() {
        for (const NamedPart& part : parts("numa_nodes", kMaxNumaNodes, "node", 1, true)) {
            const Section s(kNumaNodeSchema, *part.node, part.path, sink_);
            check_new(out_.inside.numa_nodes, part, "NUMA nodes");
            host::NumaNodeSpec node;
            node.name = part.name;
            node.socket = static_cast<uint16_t>(s.has("socket") ? static_cast<size_t>(s.integer("socket"))
                                                                : out_.inside.numa_nodes.size());
            node.bytes = static_cast<uint64_t>(s.size("memory"));
            node.rate = s.rate("rate");
            node.llc_bytes = static_cast<uint64_t>(s.size("llc"));
            node.ddio = s.has("ddio") ? s.flag("ddio") : section_.flag("ddio");
            node.llc_latency = s.time("llc_latency");
            node.dram_latency = s.time("dram_latency");
            out_.inside.numa_nodes.push_back(std::move(node));
        }
    }

    void read_bridges() {
        const auto& nodes = out_.inside.numa_nodes;
        for (const NamedPart& part : parts("bridges", kMaxHostBridges, "root", nodes.size(), true)) {
            const Section s(kHostBridgeSchema, *part.node, part.path, sink_);
            check_new(out_.inside.bridges, part, "host bridges");
            host::HostBridgeSpec bridge;
            bridge.name = part.name;
            const size_t usual = nodes.empty() ? 0 : out_.inside.bridges.size() % nodes.size();
            bridge.numa_node =
                index_of(s, "numa_node", "NUMA node", names_of(nodes)).value_or(static_cast<uint16_t>(usual));
            bridge.latency = s.time("latency");
            bridge.completion = read_power(s, "completion", "64, 128, 256, 512, 1024, 2048 or 4096 B");
            bridge.peer_write_rate = s.rate("peer_write_rate");
            bridge.peer_read_rate = s.rate("peer_read_rate");
            bridge.peer_to_peer = s.flag("peer_to_peer");
            out_.inside.bridges.push_back(std::move(bridge));
        }
    }

    void read_numa_links() {
        const auto& nodes = out_.inside.numa_nodes;
        const YamlValue* list = section_.node("numa_links");
        if (list == nullptr) {
            const Section usual(kNumaLinkSchema, usual_pair(), section_.path("numa_links"), sink_);
            for (uint16_t a = 0; a < nodes.size(); ++a)
                for (uint16_t b = a + 1; b < nodes.size(); ++b)
                    out_.inside.numa_links.push_back(made_numa_link(usual, a, b));
            return;
        }
        for_each_pair(*list, "numa_links", kNumaLinkSchema, "NUMA node", names_of(nodes),
                      [this](const Section& s, uint16_t a, uint16_t b) {
                          out_.inside.numa_links.push_back(made_numa_link(s, a, b));
                      });
        if (nodes.size() > 1) check_joined();
    }

    static host::NumaLinkSpec made_numa_link(const Section& s, uint16_t a, uint16_t b) {
        return {a, b, s.rate("rate"), s.rate("peer_rate"), s.time("latency")};
    }

    /// Every NUMA node can be reached from the first.
    void check_joined() {
        if (!names_are_complete_) return;
        std::vector<bool> reached(out_.inside.numa_nodes.size(), false);
        reached[0] = true;
        for (size_t round = 0; round < reached.size(); ++round)
            for (const host::NumaLinkSpec& l : out_.inside.numa_links)
                reached[l.a] = reached[l.b] = reached[l.a] || reached[l.b];
        const auto lost = std::find(reached.begin(), reached.end(), false);
        if (lost == reached.end()) return;
        sink_.add(section_.position("numa_links"), section_.path("numa_links"),
                  fmt::format("no way leads from NUMA node '{}' to '{}'", out_.inside.numa_nodes.front().name,
                              out_.inside.numa_nodes[static_cast<size_t>(lost - reached.begin())].name),
                  "links that join all nodes");
    }

    /// Maps with 'a' and 'b', two different ones of `names`.
    void for_each_pair(const YamlValue& list, std::string_view key, const ComponentSchema& schema,
                       std::string_view what, const std::vector<std::string_view>& names,
                       const std::function<void(const Section&, uint16_t, uint16_t)>& add,
                       const std::string& parent = {}) {
        const std::string path = parent.empty() ? section_.path(key) : child_path(parent, key);
        if (list.kind != YamlKind::Sequence) {
            report_wrong_shape(list, path, "a list of maps with 'a' and 'b'", sink_);
            return;
        }
        for (size_t i = 0; i < list.items.size(); ++i) {
            const Section s(schema, *list.items[i], item_path(path, i), sink_);
            const auto a = index_of(s, "a", what, names), b = index_of(s, "b", what, names);
            if (!a || !b) continue;
            if (*a == *b)
                sink_.add(s.position("b"), s.path("b"), fmt::format("a {} is not joined to itself", what));
            else
                add(s, *a, *b);
        }
    }

    static const YamlValue& usual_pair() {
        static const YamlValue kPair = [] {
            YamlValue map;
            map.kind = YamlKind::Map;
            for (const std::string key : {"a", "b"}) {
                auto value = std::make_shared<YamlValue>();
                value->kind = YamlKind::Scalar;
                value->text = key;
                map.entries.push_back({key, {}, std::move(value)});
            }
            return map;
        }();
        return kPair;
    }

    pcie::LinkSpec read_link(const Section& s) {
        pcie::LinkSpec link;
        link.generation = static_cast<uint8_t>(s.integer("gen"));
        link.lanes = static_cast<uint8_t>(s.integer("width"));
        if (!std::has_single_bit(link.lanes))
            sink_.add(s.position("width"), s.path("width"), fmt::format("no slot has {} lanes", link.lanes),
                      "1, 2, 4, 8 or 16");
        link.max_payload = read_power(s, "mps");
        return link;
    }
    uint16_t read_power(const Section& s, std::string_view key,
                        std::string_view expected = "128, 256, 512, 1024, 2048 or 4096 B") {
        const auto bytes = static_cast<uint16_t>(s.size(key));
        if (!std::has_single_bit(bytes))
            sink_.add(s.position(key), s.path(key), fmt::format("{} B is not a power of two", bytes),
                      std::string(expected));
        return bytes;
    }

    /// What `under` names: a bridge, or one of the switches so far.
    std::optional<host::UpstreamSpec> read_upstream(const Section& s) {
        std::vector<std::string_view> names = names_of(out_.inside.bridges);
        const size_t bridges = names.size();
        for (const host::SwitchSpec& made : out_.inside.switches) names.push_back(made.name);
        const auto index = index_of(s, "under", "host bridge or PCIe switch", names);
        if (!index) return std::nullopt;
        if (*index < bridges) return host::UpstreamSpec{host::UpstreamSpec::Kind::HostBridge, *index};
        return host::UpstreamSpec{host::UpstreamSpec::Kind::Switch, static_cast<uint16_t>(*index - bridges)};
    }

    /// Those right below a bridge come first, whatever their order in the file, then those below them.
    void read_switches() {
        std::vector<NamedPart> left = parts("switches", kMaxPcieSwitches, "switch", 0, false);
        for (const NamedPart& part : left) {
            check_new(out_.inside.bridges, part, "host bridges or PCIe switches");
            if (std::count_if(left.begin(), left.end(), [&](const NamedPart& p) { return p.name == part.name; }) > 1)
                sink_.add(part.name_position, part.path, fmt::format("there are two PCIe switches '{}'", part.name),
                          "a name of its own");
        }
        while (!left.empty()) {
            const auto ready = std::find_if(left.begin(), left.end(), [&](const NamedPart& part) {
                const YamlValue* under = part.node->kind == YamlKind::Map ? part.node->find("under") : nullptr;
                return under == nullptr || std::none_of(left.begin(), left.end(),
                                                        [&](const NamedPart& p) { return p.name == under->text; });
            });
            if (ready == left.end()) {
                sink_.add(left.front().name_position, left.front().path,
                          fmt::format("the PCIe switch '{}' is below itself", left.front().name),
                          "a tree with host bridges at its roots");
                names_are_complete_ = false;
                return;
            }
            add_switch(*ready);
            left.erase(ready);
        }
    }

    void add_switch(const NamedPart& part) {
        const Section s(kPcieSwitchSchema, *part.node, part.path, sink_);
        host::SwitchSpec made;
        made.name = part.name;
        made.upstream = read_upstream(s).value_or(host::UpstreamSpec{});
        made.slot = read_link(s);
        made.latency = s.time("latency");
        made.acs = s.has("acs") ? s.flag("acs") : section_.flag("acs");
        out_.inside.switches.push_back(std::move(made));
    }

    const YamlValue& node_or_null(std::string_view key) const {
        const YamlValue* node = section_.node(key);
        return node != nullptr ? *node : null_value();
    }

    void check_template(const Section& section, std::initializer_list<std::string_view> own_keys) {
        for (const std::string_view key : own_keys)
            if (section.writes(key))
                sink_.add(section.position(key), section.path(key), "belongs to one of them, not to all");
    }

    /// Reports a part whose name another device has: both are places that faults and metrics name.
    void check_place(const NamedPart& part) {
        const auto is_same = [&](const auto& e) { return e.name == part.name; };
        const auto& slots = out_.slots;
        const auto& gpus = out_.inside.gpus;
        const auto& switches = out_.inside.switches;
        if (std::any_of(slots.begin(), slots.end(), is_same) || std::any_of(gpus.begin(), gpus.end(), is_same) ||
            std::any_of(switches.begin(), switches.end(), is_same))
            sink_.add(part.name_position, part.path, fmt::format("the name '{}' is taken", part.name),
                      "a name of its own among slots, GPUs and PCIe switches");
    }

    void read_place(const Section& s, const NamedPart& part, host::DeviceSlotSpec& to) {
        check_place(part);
        to.name = part.name;
        if (!s.writes("under"))
            sink_.add(part.name_position, part.path, "the key 'under' is missing",
                      "the host bridge or PCIe switch that it is connected to");
        to.upstream = read_upstream(s).value_or(host::UpstreamSpec{});
        to.slot = read_link(s);
        to.max_read_request = read_power(s, "mrrs");
        to.link_latency = s.time("latency");
        to.ats = s.has("ats") ? s.flag("ats") : section_.flag("ats");
    }

    void read_slots() {
        const Section usual(kSlotSchema, node_or_null("slot"), section_.path("slot"), sink_);
        check_template(usual, {"name", "under"});
        for (const NamedPart& part : parts("slots", kMaxSlots, "slot", 0, false)) {
            const Section s(kSlotSchema, *part.node, part.path, sink_, &usual);
            host::DeviceSlotSpec slot;
            read_place(s, part, slot);
            out_.slots.push_back(std::move(slot));
        }
    }

    void read_gpus() {
        constexpr uint8_t kGpuLanes = 16;
        const Section usual(kGpuSchema, node_or_null("gpu"), section_.path("gpu"), sink_);
        check_template(usual, {"name", "under"});
        for (const NamedPart& part : parts("gpus", kMaxGpus, "gpu", 0, false)) {
            const Section s(kGpuSchema, *part.node, part.path, sink_, &usual);
            host::GpuSpec gpu;
            read_place(s, part, gpu);
            gpu.model = s.text("model");
            gpu.device = {static_cast<uint8_t>(s.integer("max_gen")), kGpuLanes, gpu.slot.max_payload};
            gpu.hbm_bytes = static_cast<uint64_t>(s.size("memory"));
            gpu.hbm_rate = s.rate("memory_rate");
            gpu.hbm_latency = s.time("memory_latency");
            gpu.bar1_bytes = static_cast<uint64_t>(s.size("bar1"));
            gpu.bar_read_rate = s.rate("bar_read_rate");
            gpu.copy_engines = static_cast<uint8_t>(s.integer("copy_engines"));
            gpu.copy_overhead = s.time("copy_overhead");
            gpu.copy_gap = s.time("copy_gap");
            out_.inside.gpus.push_back(std::move(gpu));
        }
    }

    void read_nvlink() {
        const YamlValue* node = section_.node("nvlink");
        if (node == nullptr) return;
        const Section s(kNvLinkSchema, *node, section_.path("nvlink"), sink_);
        host::NvLinkFabricSpec& to = out_.inside.nvlink;
        to.switched_links = static_cast<uint8_t>(s.integer("switched_links"));
        to.link_rate = s.rate("link_rate");
        to.latency = s.time("latency");
        to.switch_latency = s.time("switch_latency");
        if (out_.inside.gpus.size() < 2 && names_are_complete_)
            sink_.add(s.position(), s.path(), "NVLinks need two GPUs", "a platform with at least two GPUs");
        const YamlValue* pairs = s.node("pairs");
        if (pairs == nullptr) return;
        const std::vector<std::string_view> names = names_of(out_.inside.gpus);
        for_each_pair(
            *pairs, "pairs", kNvLinkPairSchema, "GPU", names,
            [&to](const Section& pair, uint16_t a, uint16_t b) {
                to.links.push_back({a, b, static_cast<uint8_t>(pair.integer("links"))});
            },
            s.path());
    }

    void read_iommu() {
        host::IommuSpec& to = out_.inside.iommu;
        if (const YamlValue* node = section_.node("iommu"); node != nullptr) {
            const Section s(kIommuSchema, *node, section_.path("iommu"), sink_);
            to.enabled = s.flag("enabled");
            to.entries = static_cast<uint32_t>(s.integer("entries"));
            to.ats_entries = static_cast<uint32_t>(s.integer("ats_entries"));
            to.page_bytes = static_cast<uint64_t>(s.size("page"));
            to.walkers = static_cast<uint32_t>(s.integer("walkers"));
            to.miss = s.time("miss");
            if (!std::has_single_bit(to.page_bytes))
                sink_.add(s.position("page"), s.path("page"),
                          fmt::format("a page of {} B is not a power of two", to.page_bytes), "4 KiB, 2 MiB or 1 GiB");
        }
        if (section_.flag("ats") && !to.enabled)
            sink_.add(section_.position("ats"), section_.path("ats"), "without an IOMMU there is nothing to translate",
                      {}, "add 'iommu: {}', or remove it");
    }

    void read_cpu() {
        const Section s(kCpuSchema, node_or_null("cpu"), section_.path("cpu"), sink_);
        host::CpuSpec& to = out_.inside.cpu;
        to.bridge_latency = s.time("bridge_latency");
        to.store_issue = s.time("store_issue");
        to.store_rate = s.rate("store_rate");
        to.write_combining = static_cast<uint32_t>(s.size("write_combining"));
    }

    void read_driver() {
        const Section s(kGpuDriverSchema, node_or_null("gpu_driver"), section_.path("gpu_driver"), sink_);
        out_.driver = {s.flag("peermem"), s.flag("gdrdrv"), s.flag("dma_buf")};
    }

    DiagnosticSink& sink_;
    const Section section_;
    Platform out_;
    bool names_are_complete_ = true;  ///< no part was dropped because it was wrong
};

}  // namespace

const Platform* read_platform(LabReading& reading, const YamlValue& node, const std::string& path) {
    const auto known = reading.platforms.find(&node);
    if (known != reading.platforms.end()) return known->second.get();
    auto& made = reading.platforms[&node];
    const YamlPtr map = PlatformFinder(reading).find(node, path);
    if (map == nullptr) return nullptr;
    const size_t before = reading.sink.reports();
    // What a file says has its own path, from its root.
    const bool is_file = node.kind == YamlKind::Scalar;
    Platform platform = PlatformReader(reading, *map, is_file ? std::string() : path).read();
    if (reading.sink.reports() == before) made = std::make_shared<const Platform>(std::move(platform));
    return made.get();
}

}  // namespace simverbs::scenarios
