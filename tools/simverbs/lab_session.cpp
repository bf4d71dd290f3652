#include "tools/simverbs/lab_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "models/fabric/fabric.hpp"
#include "models/timeline/recorder.hpp"
#include "scenarios/build/known_profiles.hpp"
#include "scenarios/build/lab_builder.hpp"
#include "scenarios/lang/did_you_mean.hpp"
#include "scenarios/lang/lab_library.hpp"
#include "scenarios/lang/lab_loader.hpp"
#include "sim/engine.hpp"
#include "sim/node.hpp"
#include "tools/simverbs/host_gpus.hpp"
#include "tools/simverbs/install_paths.hpp"
#include "tools/simverbs/user_error.hpp"
#include "verbs_shim/server/arbiter.hpp"

namespace simverbs::tools {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void report(const scenarios::DiagnosticSink& sink, const char* what) {
    std::string text = sink.to_string();
    while (!text.empty() && text.back() == '\n') text.pop_back();
    throw UserError(sink.count() == 1 ? text : std::string(what) + "\n" + text);
}

/// --set NAME=VALUE goes to every NIC, over what the lab's file says.
void set_parameters(const std::vector<std::string>& parameters, scenarios::LabSpec& spec) {
    for (const std::string& parameter : parameters) {
        const size_t equals = parameter.find('=');
        if (equals == std::string::npos || equals == 0)
            throw UserError(fmt::format("--set {}: sets nothing; expected NAME=VALUE, such as 'wqe_process=200 ns'",
                                        scenarios::in_quotes(parameter)));
        const std::string name = parameter.substr(0, equals);
        const scenarios::SourcePosition place{std::make_shared<const std::string>("--set " + parameter), 0, 0};
        for (scenarios::HostSpec& host : spec.hosts) {
            for (scenarios::NicSpec& nic : host.nics)
                nic.parameters.insert_or_assign(
                    name, scenarios::ParameterOverride{parameter.substr(equals + 1), "", place, place});
        }
    }
}

server::LabConfig config_of(const scenarios::LabSpec& spec, const LabRequest& request) {
    server::LabConfig config;
    config.name = spec.name;
    config.seed = spec.seed;
    config.explain = request.explain;
    config.gpu_libraries = gpu_libraries();
    config.clock = spec.clock == scenarios::ClockKind::Wall ? protocol::ClockMode::Wall : protocol::ClockMode::Virtual;
    return config;
}

}  // namespace

/// Ends the engine's windows at a time that the lab's owner wants to see. Once it has rung, it stays due until it is
/// taken: whoever asks the engine for its next event meanwhile must not hear that there is none.
class LabAlarm final : public sim::Node {
  public:
    explicit LabAlarm(server::Lab& lab) : lab_(lab) {}

    void set(sim::SimTime at) {
        due_ = std::max(at, engine().frontier());
        engine().wake(id(), due_);
    }
    std::optional<sim::SimTime> take() noexcept {
        if (rang_) due_ = sim::SimTime::max();
        return std::exchange(rang_, std::nullopt);
    }

    void run_window(sim::SimTime end) override {
        if (due_ < end) {
            if (!rang_) rang_ = due_;
            due_ = end;
            lab_.note_delivery();  // whoever runs windows stops and looks around
        }
        if (due_ != sim::SimTime::max()) engine().wake(id(), due_);
    }
    [[nodiscard]] sim::SimTime next_event_time() const override { return due_; }

  private:
    server::Lab& lab_;
    sim::SimTime due_ = sim::SimTime::max();
    std::optional<sim::SimTime> rang_;
};

scenarios::LabSpec load_lab(const LabRequest& request) {
    scenarios::DiagnosticSink sink;
    const auto file =
        scenarios::find_lab(request.lab.empty() ? scenarios::kDefaultLabName : request.lab, labs_folder(), sink);
    if (!file) report(sink, "there is no such lab");
    auto spec = scenarios::load_lab_file(*file, scenarios::lab_options(), sink);
    if (!spec) report(sink, "the lab has mistakes");
    if (request.seed) spec->seed = *request.seed;
    if (request.clock) spec->clock = *request.clock;
    set_parameters(request.parameters, *spec);
    return *spec;
}

uint32_t host_index(const scenarios::LabSpec& spec, const std::string& name) {
    const int index = spec.find_host(name);
    if (index >= 0) return static_cast<uint32_t>(index);
    std::vector<std::string_view> known;
    for (const scenarios::HostSpec& host : spec.hosts) known.push_back(host.name);
    std::string hint = scenarios::did_you_mean(name, known);
    if (hint.empty()) {
        hint = "its hosts are";
        for (size_t i = 0; i < std::min<size_t>(known.size(), 10); ++i) hint += " " + std::string(known[i]);
        if (known.size() > 10) hint += fmt::format(" … ({} in all)", known.size());
    }
    throw UserError(fmt::format("the lab '{}' has no host '{}'; {}", spec.name, name, hint));
}

struct LabSession::Parts {
    std::unique_ptr<timeline::Recorder> recorder;  ///< null: none; adapters and links tell it until they are gone
    scenarios::BuiltLab built;                     ///< of a lab's file
    std::unique_ptr<server::Lab> lab;
    std::unique_ptr<LabAlarm> alarm;
    std::unique_ptr<fabric::Fabric> fabric;   ///< of a lab's file
    fabric::Adapters* adapters = nullptr;     ///< of whichever fabric
    std::vector<uint32_t> hosts_with_inside;  ///< in the order of the fabric's
    bool captures = false;
    std::vector<std::string> link_names;
    std::vector<const link::Link*> links;

    void capture(const std::string& folder, const std::string& host, const std::string& device, size_t adapter,
                 int port) {
        std::error_code error;
        fs::create_directories(folder, error);
        if (error)
            throw UserError(
                fmt::format("--pcap {}: the folder cannot be made: {}; choose a folder that you may write to", folder,
                            error.message()));
        captures = true;
        const std::string file = fmt::format("{}/{}-{}-{}.pcap", folder, host, device, port);
        const std::string problem = adapters->capture(adapter, static_cast<uint8_t>(port), file);
        if (!problem.empty()) throw UserError(fmt::format("--pcap {}: {}", folder, problem));
    }
    /// `numbers`: of each host's adapters; cables in the order of link_names.
    void record(const LabRequest& request, const std::vector<server::HostConfig>& hosts,
                const std::vector<std::vector<size_t>>& numbers, const std::vector<link::Link*>& cables,
                const std::vector<fabric::Switch*>& switches) {
        if (request.timeline.empty()) return;
        recorder = std::make_unique<timeline::Recorder>(request.timeline_packets.value_or(kTimelinePackets));
        for (size_t h = 0; h < numbers.size(); ++h)
            for (size_t n = 0; n < numbers[h].size(); ++n)
                recorder->attach(*adapters, numbers[h][n], hosts[h].name, hosts[h].nics[n].device);
        for (size_t i = 0; i < cables.size(); ++i) recorder->attach(*cables[i], link_names[i]);
        for (fabric::Switch* each : switches) recorder->attach(*each);
    }
    /// The models are there: the lab can begin. `numbers`: of each host's adapters.
    void attach(sim::Engine& engine, const std::vector<std::vector<size_t>>& numbers) {
        alarm = std::make_unique<LabAlarm>(*lab);
        engine.add_node(*alarm);
        std::vector<std::vector<hca::Hca*>> hcas;
        for (const auto& of_host : numbers) {
            auto& to = hcas.emplace_back();
            for (const size_t adapter : of_host) to.push_back(&adapters->nic(adapter));
        }
        lab->attach(engine, *adapters->mover(), hcas);
        for (size_t i = 0; i < hosts_with_inside.size(); ++i) {
            const uint32_t h = hosts_with_inside[i];
            server::GpuHost* const gpus = lab->hosts()[h].gpus.get();
            if (gpus == nullptr) continue;
            host::HostNode& node = adapters->host(i);
            node.add_part(*gpus);
            std::vector<std::string> devices;
            for (const server::Nic& nic : lab->hosts()[h].nics) devices.push_back(nic.config.device);
            lab->attach_gpus(h, timing_of(node, devices));
        }
    }
};

LabSession::LabSession(const scenarios::LabSpec& spec, const LabRequest& request, server::LabObserver& observer)
    : parts_(std::make_unique<Parts>()) {
    scenarios::DiagnosticSink sink;
    auto built = scenarios::build_lab(spec, sink);
    if (!sink.empty()) report(sink, "the lab cannot be built");
    parts_->built = std::move(*built);
    scenarios::BuiltLab& b = parts_->built;

    server::LabConfig config = config_of(spec, request);
    for (size_t h = 0; h < spec.hosts.size(); ++h) {
        server::HostConfig host{spec.hosts[h].name, b.hosts[h].ipv4, {}};
        for (size_t n = 0; n < spec.hosts[h].nics.size(); ++n)
            host.nics.push_back({spec.hosts[h].nics[n].device, b.hosts[h].netdevs[n]});
        if (spec.hosts[h].inside != nullptr) parts_->hosts_with_inside.push_back(static_cast<uint32_t>(h));
        if (spec.hosts[h].inside != nullptr) host.gpus = gpus_of(*spec.hosts[h].inside, static_cast<uint32_t>(h));
        config.hosts.push_back(std::move(host));
    }
    parts_->lab = std::make_unique<server::Lab>(config, observer);
    server::Lab& lab = *parts_->lab;

    std::vector<std::vector<size_t>> numbers(spec.hosts.size());
    for (uint32_t h = 0; h < spec.hosts.size(); ++h) {
        for (uint32_t n = 0; n < spec.hosts[h].nics.size(); ++n) {
            numbers[h].push_back(b.hosts[h].first_nic + n);
            b.fabric.nics[numbers[h].back()].sink = &lab.sink(h, n);
        }
    }
    sim::EngineConfig engine;
    engine.seed = spec.seed;
    parts_->fabric = std::make_unique<fabric::Fabric>(b.fabric, engine, &lab.memory());
    parts_->adapters = &parts_->fabric->adapters();
    for (size_t i = 0; i < spec.links.size(); ++i) {
        const scenarios::LinkSpec& link = spec.links[i];
        parts_->link_names.push_back(scenarios::to_string(spec, link.a) + " - " + scenarios::to_string(spec, link.b));
        parts_->links.push_back(&parts_->fabric->fabric_link(i));
    }
    for (size_t h = 0; h < spec.hosts.size() && !request.pcap_folder.empty(); ++h)
        for (size_t n = 0; n < spec.hosts[h].nics.size(); ++n)
            for (int port = 1; port <= spec.hosts[h].nics[n].ports; ++port)
                parts_->capture(request.pcap_folder, spec.hosts[h].name, spec.hosts[h].nics[n].device, numbers[h][n],
                                port);
    std::vector<link::Link*> cables;
    std::vector<fabric::Switch*> switches;
    for (size_t i = 0; i < parts_->fabric->link_count(); ++i) cables.push_back(&parts_->fabric->fabric_link(i));
    for (size_t i = 0; i < parts_->fabric->switch_count(); ++i) switches.push_back(&parts_->fabric->fabric_switch(i));
    parts_->record(request, config.hosts, numbers, cables, switches);
    parts_->attach(parts_->fabric->engine(), numbers);
}

LabSession::LabSession(const scenarios::ScenarioSpec& spec, scenarios::run::BuiltScenario& built,
                       const LabRequest& request, server::LabObserver& observer)
    : parts_(std::make_unique<Parts>()) {
    server::LabConfig config = config_of(spec.lab, request);
    std::vector<std::vector<size_t>> numbers;
    for (const scenarios::run::ProgramHost& from : built.adapters.hosts) {
        server::HostConfig host{from.name, from.address, {}};
        auto& of_host = numbers.emplace_back();
        for (const auto& nic : from.nics) {
            host.nics.push_back({nic.device, nic.netdev});
            of_host.push_back(nic.adapter);
        }
        if (from.inside != nullptr) host.gpus = gpus_of(*from.inside, static_cast<uint32_t>(config.hosts.size()));
        config.hosts.push_back(std::move(host));
    }
    parts_->lab = std::make_unique<server::Lab>(config, observer);
    server::Lab& lab = *parts_->lab;
    scenarios::run::make_fabric(built,
                                {&lab.memory(), [&lab](uint32_t host, uint32_t nic) { return &lab.sink(host, nic); }});
    parts_->adapters = &built.fabric->adapters();
    parts_->hosts_with_inside = built.adapters.host_of_complex;
    const auto& links = built.topology.topology.links;
    for (size_t i = 0; i < links.size(); ++i) {
        parts_->link_names.push_back(built.topology.port_name(links[i].a) + " - " +
                                     built.topology.port_name(links[i].b));
        parts_->links.push_back(&built.fabric->fabric_link(i));
    }
    for (const scenarios::run::CapturedAdapterPort& port : built.captures)
        parts_->capture(request.pcap_folder, port.host, port.device, port.adapter, port.port);
    std::vector<link::Link*> cables;
    std::vector<fabric::Switch*> switches;
    for (size_t i = 0; i < links.size(); ++i) cables.push_back(&built.fabric->fabric_link(i));
    for (size_t i = 0; i < built.fabric->switch_count(); ++i) switches.push_back(&built.fabric->fabric_switch(i));
    parts_->record(request, config.hosts, numbers, cables, switches);
    parts_->attach(built.fabric->engine(), numbers);
}

LabSession::~LabSession() = default;

server::Lab& LabSession::lab() noexcept {
    return *parts_->lab;
}

void LabSession::set_alarm(sim::SimTime at) {
    parts_->alarm->set(at);
}

std::optional<sim::SimTime> LabSession::take_alarm() {
    return parts_->alarm->take();
}

std::vector<std::string> LabSession::losses() const {
    std::vector<std::string> out;
    for (size_t i = 0; i < parts_->links.size(); ++i) {
        // A fault of both ways is told once.
        std::map<std::string, uint64_t> lost;
        for (const link::FaultReport& fault : parts_->links[i]->fault_reports()) {
            const bool loses = fault.kind == link::FaultKind::Drop || fault.kind == link::FaultKind::Corrupt ||
                               fault.kind == link::FaultKind::Down;
            if (loses && fault.fired > 0) lost[fault.path] += fault.fired;
        }
        for (const auto& [fault, count] : lost)
            out.push_back(fmt::format("{} packet{} on {} (fault '{}')", count, count == 1 ? "" : "s",
                                      parts_->link_names[i], fault));
    }
    return out;
}

std::string waiting_report(const server::Arbiter& arbiter, const LabSession& session) {
    std::string out = arbiter.waiting_report();
    for (const std::string& loss : session.losses()) out += "  lost: " + loss + "\n";
    return out;
}

void LabSession::flush_captures() {
    if (parts_->captures) (void)parts_->adapters->flush_captures();
}

void LabSession::close_captures() {
    if (!parts_->captures) return;
    const std::string problem = parts_->adapters->close_captures();
    if (!problem.empty()) throw std::runtime_error("the capture is not complete: " + problem);
}

timeline::Timeline LabSession::take_timeline() {
    return parts_->recorder->take(parts_->lab->engine().frontier());
}

}  // namespace simverbs::tools
