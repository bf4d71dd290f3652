#include "verbs_shim/server/lab.hpp"

#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "verbs_shim/server/cm/rdma_cm.hpp"
#include "verbs_shim/server/futex.hpp"

namespace simverbs::server {

namespace {

/// Clocks at simulated time 0, the same in every run and for every seed: 2025-01-01 00:00:00 UTC, and a machine that
/// has been up for ten minutes.
constexpr int64_t kRealtimeAtZeroNs = 1'735'689'600LL * 1'000'000'000;
constexpr int64_t kMonotonicAtZeroNs = 600LL * 1'000'000'000;
constexpr uint64_t kTscKhz = 2'000'000;
constexpr uint32_t kFirstEphemeralPort = 32768;

}  // namespace

Lab::Lab(const LabConfig& config, LabObserver& observer)
    : config_(config), observer_(&observer), rdma_cm_(std::make_unique<RdmaCm>(*this)) {
    ::signal(SIGPIPE, SIG_IGN);  // programs die with pipes and sockets of ours in their hands
    if (config.hosts.size() > protocol::kMaxHosts) throw std::runtime_error("a lab has at most 4096 hosts");
    protocol::LabShared& page = *page_;
    page.clock_mode = config.clock;
    page.lab_block = block_.block();
    page.seed = config.seed;
    page.realtime_at_zero_ns = kRealtimeAtZeroNs;
    page.monotonic_at_zero_ns = kMonotonicAtZeroNs;
    page.tsc_khz = kTscKhz;
    page.explain = config.explain ? 1 : 0;
    page.num_hosts = static_cast<uint32_t>(config.hosts.size());
    host::AddressSpaceId next_gpu_space = host::kFirstGpuSpace;
    for (uint32_t i = 0; i < page.num_hosts; ++i) {
        const HostConfig& from = config.hosts[i];
        if (from.nics.size() > protocol::kMaxDevicesPerHost)
            throw std::runtime_error("host " + from.name + " has more than 16 NICs");
        protocol::HostEntry& entry = page.hosts[i];
        std::memcpy(entry.name, from.name.data(), std::min(from.name.size(), sizeof entry.name - 1));
        entry.address = from.address;
        entry.num_devices = static_cast<uint32_t>(from.nics.size());
        entry.next_ephemeral_port.store(kFirstEphemeralPort);
        Host host{from.name, from.address, block_.folder() + "/" + std::to_string(i), false, {}, nullptr};
        for (uint32_t n = 0; n < from.nics.size(); ++n)
            host.nics.push_back({from.nics[n], nullptr, std::make_unique<NicSink>(*this, i, n)});
        if (from.gpus.gpus.size() > protocol::kMaxGpusPerHost)
            throw std::runtime_error("host " + from.name + " has more than 16 GPUs");
        if (!from.gpus.gpus.empty() && !config.gpu_libraries.empty()) {
            const std::string link = gpu_library_link(block_.folder() + "/", from.name);
            std::error_code error;
            std::filesystem::create_directories(std::filesystem::path(link).parent_path(), error);
            std::filesystem::create_symlink(config.gpu_libraries, link, error);
        }
        if (!from.gpus.gpus.empty()) host.gpus = std::make_unique<GpuHost>(*this, i, from.gpus, next_gpu_space);
        next_gpu_space += static_cast<host::AddressSpaceId>(from.gpus.gpus.size());
        hosts_.push_back(std::move(host));
    }
    open_socket();
    page.server_alive.store(1);
}

Lab::~Lab() {
    page_->server_alive.store(0);
    for (Host& host : hosts_)
        if (host.gpus != nullptr) host.gpus->detach();  // the models have gone before
    // Whoever still waits for a turn must look up and find that nobody will grant it.
    for (uint32_t i = 0; i < roster_.num_slots; ++i) wake_word(page_->slots[i].turn);
}

void Lab::attach(sim::Engine& engine, host::PayloadMover& mover, const std::vector<std::vector<hca::Hca*>>& hcas) {
    engine_ = &engine;
    mover_ = &mover;
    down_latency_ = sim::SimTime::max();
    up_latency_ = sim::SimTime::max();
    for (size_t h = 0; h < hosts_.size(); ++h) {
        for (size_t n = 0; n < hosts_[h].nics.size(); ++n) {
            hca::Hca* hca = hcas[h][n];
            hosts_[h].nics[n].hca = hca;
            down_latency_ = std::min(down_latency_, hca->downward_latency());
            up_latency_ = std::min(up_latency_, hca->profile().timing.pcie_write);
        }
    }
    rdma_cm_->attach();
    if (down_latency_ == sim::SimTime::max()) {  // no NIC anywhere
        down_latency_ = sim::SimTime::ns(100);
        up_latency_ = sim::SimTime::ns(100);
    }
}

void Lab::attach_gpus(uint32_t host, GpuTiming timing) {
    Host& h = hosts_[host];
    h.gpus->attach(*mover_, std::move(timing), static_cast<host::AgentId>(h.nics.size()), up_latency_);
}

void Lab::run_engine_until(sim::SimTime t) {
    while (watcher_ != nullptr && watcher_->next_look() <= t) {
        engine_->run_until(watcher_->next_look());
        watcher_->look();
    }
    engine_->run_until(t);
}

void Lab::run_engine_window(sim::SimTime limit) {
    if (watcher_ == nullptr) {
        (void)engine_->run_window(limit);
        return;
    }
    (void)engine_->run_window(std::min(limit, watcher_->next_look()));
    while (watcher_->next_look() <= engine_->frontier()) watcher_->look();
}

Client* Lab::client_of_process(uint32_t process) {
    const auto it = clients_.find(process);
    return it == clients_.end() ? nullptr : it->second.get();
}

Client* Lab::client_of_space(host::AddressSpaceId space) {
    const auto it = process_of_space_.find(space);
    return it == process_of_space_.end() ? nullptr : client_of_process(it->second);
}

uint64_t Lab::next_fd_key() noexcept {
    return protocol::object_key(protocol::ObjectKind::ChannelFd, ++last_fd_);
}

void Lab::explain(const Client& client, std::string_view text) {
    if (config_.explain) observer_->on_explain(client.host, client.program, text);
}

}  // namespace simverbs::server
