// A lab of two hosts without programs, for targets that play a program's part. Made once: what an input leaves behind
// is removed with its client.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/fabric/fabric.hpp"
#include "models/host/complex.hpp"
#include "models/wire/gid.hpp"
#include "verbs_shim/server/lab.hpp"

namespace simverbs::fuzz {

class DetachedLab final : public server::LabObserver {
  public:
    static DetachedLab& instance() {
        static DetachedLab lab;
        return lab;
    }
    void on_explain(uint32_t, uint32_t, std::string_view) override {}
    void on_note(std::string_view text) override { notes.emplace_back(text); }
    std::vector<std::string> notes;

    [[nodiscard]] server::Lab& lab() noexcept { return *lab_; }
    /// Lets simulated time pass, at most `windows` windows of events.
    void run(int windows) {
        for (int i = 0; i < windows && fabric_->engine().next_event_time() != sim::SimTime::max(); ++i)
            fabric_->engine().run_window(fabric_->engine().next_event_time() + lab_->down_latency());
    }

  private:
    DetachedLab() {
        server::LabConfig config;
        config.name = "fuzz";
        config.explain = true;
        config.hosts = {{"h0", 0x0A000001, {{"mlx5_0", "eth0"}}}, {"h1", 0x0A000002, {{"mlx5_0", "eth0"}}}};
        const host::PlatformSpec platform = platform_with_gpus();
        config.hosts[0].gpus.numa_nodes = static_cast<uint32_t>(platform.numa_nodes.size());
        for (const host::GpuSpec& gpu : platform.gpus) {
            server::GpuConfig to;
            to.info.bytes = gpu.hbm_bytes;
            to.info.bar1_bytes = gpu.bar1_bytes;
            config.hosts[0].gpus.gpus.push_back(to);
        }
        lab_ = std::make_unique<server::Lab>(config, *this);
        fabric::FabricSpec spec;
        for (uint32_t h = 0; h < 2; ++h) {
            fabric::NicSpec nic;
            nic.path = h == 0 ? "h0/mlx5_0" : "h1/mlx5_0";
            nic.profile = hca::find_profile("ideal");
            nic.node_guid = 0x0002C90300000000 + h * 16;
            nic.sink = &lab_->sink(h, 0);
            hca::HcaPortConfig port;
            port.mac.bytes = {2, 0, 0, 0, 0, static_cast<uint8_t>(h + 1)};
            port.port_guid = nic.node_guid + 1;
            port.rate = nic.profile->default_rate;
            port.gids = {{wire::gid_from_ipv4(config.hosts[h].address).bytes, hca::GidType::RoceV2, "eth0"}};
            nic.ports = {port};
            spec.nics.push_back(nic);
        }
        spec.hosts.push_back({"h0", {0}, [platform] { return std::make_unique<host::Complex>(platform); }});
        spec.links.push_back({{false, 0, 1}, {false, 1, 1}, {}, {}, {}});
        fabric_ = std::make_unique<fabric::Fabric>(spec, sim::EngineConfig{}, &lab_->memory());
        lab_->attach(fabric_->engine(), *fabric_->mover(), {{&fabric_->nic(0)}, {&fabric_->nic(1)}});
        host::HostNode& node = fabric_->adapters().host(0);
        node.add_part(*lab_->hosts()[0].gpus);
        lab_->attach_gpus(0, {&node.complex(), [&node](const host::CopySpec& copy, sim::SimTime now,
                                                       host::CopySink& sink) { node.submit(copy, now, sink); }});
    }
    /// Two GPUs next to the first host's adapter.
    static host::PlatformSpec platform_with_gpus() {
        host::PlatformSpec platform;
        platform.name = "fuzz";
        platform.numa_nodes.emplace_back().name = "node0";
        platform.bridges.emplace_back().name = "root0";
        platform.nics.emplace_back().name = "nic0";
        platform.gpus.emplace_back().name = "gpu0";
        platform.gpus.emplace_back().name = "gpu1";
        return platform;
    }

    std::unique_ptr<server::Lab> lab_;
    std::unique_ptr<fabric::Fabric> fabric_;
};

/// Input bytes, taken from the front; zeros behind the end.
class Bytes {
  public:
    Bytes(const uint8_t* data, size_t size) : rest_(data, size) {}
    [[nodiscard]] bool empty() const noexcept { return rest_.empty(); }
    uint8_t byte() {
        if (rest_.empty()) return 0;
        const uint8_t b = rest_.front();
        rest_ = rest_.subspan(1);
        return b;
    }
    void fill(uint8_t* to, size_t bytes) {
        for (size_t i = 0; i < bytes; ++i) to[i] = byte();
    }

  private:
    std::span<const uint8_t> rest_;
};

}  // namespace simverbs::fuzz
