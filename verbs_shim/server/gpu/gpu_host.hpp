// The GPUs of one simulated host: their memories, and the streams of all programs on them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/host/host_complex.hpp"
#include "sim/node.hpp"
#include "verbs_shim/protocol/gpu_messages.hpp"
#include "verbs_shim/protocol/pci_info.hpp"
#include "verbs_shim/server/gpu/gpu_client.hpp"
#include "verbs_shim/server/gpu/gpu_memory.hpp"

namespace simverbs::server {

class Lab;

struct GpuConfig {
    protocol::GpuInfo info;
    sim::BitRate memory_rate = sim::BitRate::gbps(24'000);  ///< of its HBM, reading or writing
};

/// What a host has, and what its kernel has loaded at first.
struct HostGpusConfig {
    std::vector<GpuConfig> gpus;
    uint32_t numa_nodes = 1;  ///< GPU n's memory is MemoryId numa_nodes + n
    bool peermem = true;      ///< nvidia_peermem: ibv_reg_mr takes GPU memory
    bool gdrdrv = true;       ///< GDRCopy's module
    bool dma_buf = true;      ///< the driver exports dma-bufs
    std::string topology;     ///< what `nvidia-smi topo -m` prints
    std::vector<protocol::NumaInfo> numa;
};

/// What times copies and CPUs' accesses to a GPU's window: a HostComplex, with whatever its host needs around it.
struct GpuTiming {
    host::HostComplex* complex = nullptr;
    /// Hands a copy over at `now`, which is at or after all that has happened; `sink` must live until its end.
    std::function<void(const host::CopySpec&, sim::SimTime now, host::CopySink& sink)> submit;
    /// The host's PCI as it is now, ACS Control apart; null: it has none to show.
    std::function<std::vector<protocol::PciInfo>()> pci_functions;
    /// A switch redirects requests between peers to the root from `now` on, or no longer.
    std::function<void(uint16_t switch_index, bool on, sim::SimTime now)> redirect_peers;
};

/// Runs as a node of the engine, or as a part of its host's. Everything in program order and in GPU order; a work's
/// bytes move when it is done, as the models' DMA does.
class GpuHost final : public sim::Node, public host::CopySink {
  public:
    GpuHost(Lab& lab, uint32_t host, const HostGpusConfig& config, host::AddressSpaceId first_space);

    /// The models are there; `first_agent`: of the first GPU.
    void attach(host::PayloadMover& mover, GpuTiming timing, host::AgentId first_agent, sim::SimTime up_latency);
    void detach();

    [[nodiscard]] const HostGpusConfig& config() const noexcept { return config_; }
    [[nodiscard]] uint32_t size() const noexcept { return static_cast<uint32_t>(config_.gpus.size()); }
    [[nodiscard]] GpuMemory& memory(uint32_t gpu) { return *memories_[gpu]; }
    [[nodiscard]] host::MemoryId memory_id(uint32_t gpu) const {
        return static_cast<host::MemoryId>(config_.numa_nodes + gpu);
    }
    [[nodiscard]] host::HostComplex& complex() { return *timing_.complex; }
    [[nodiscard]] uint32_t& modules() noexcept { return modules_; }
    /// With the values of ACS Control. A switch redirects while any of its downstream ports has Request Redirect.
    [[nodiscard]] std::vector<protocol::PciInfo> pci_functions() const;
    void write_acs_control(const std::vector<protocol::PciInfo>& functions, size_t port, uint32_t value,
                           sim::SimTime now);

    // ---- queues, from the control path
    [[nodiscard]] std::shared_ptr<GpuStream> make_stream(const Client& client, uint32_t gpu, bool blocking);
    /// The client's stream of that number; the legacy one and those of threads are made when first named. Null: none.
    std::shared_ptr<GpuStream> stream(Client& client, uint32_t gpu, uint64_t id, uint32_t slot);
    /// Behind everything that the stream must wait for.
    void submit(Client& client, const std::shared_ptr<GpuStream>& stream, GpuWork&& work, sim::SimTime now);
    void function_done(const std::shared_ptr<GpuStream>& stream, sim::SimTime now, sim::SimTime took);
    /// Fixes the source bytes of a copy now.
    void read_source(GpuWork& work);
    /// The client is told, by its shared object, when the point is reached.
    void tell_at(Client& client, const GpuPoint& point, sim::SimTime now);
    void client_gone(Client& client);
    /// Of all programs, in the order of their making.
    [[nodiscard]] const std::map<uint64_t, std::shared_ptr<GpuStream>>& streams() const noexcept { return streams_; }

    // ---- handles between processes, by token
    struct Exported {
        std::weak_ptr<GpuBlock> block;
        std::weak_ptr<GpuEvent> event;
        uint32_t process = 0, gpu = 0;
        uint64_t at = 0, bytes = 0;
    };
    std::map<uint64_t, Exported> exported;
    uint64_t last_number =
        0xFF;  ///< of streams, events, pins, tokens, allocations: above the streams that always exist
    struct DmaBuf {
        UniqueFd file;
        HeldDescriptor held;
        uint32_t process = 0;
        std::shared_ptr<GpuBlock> block;
        uint32_t gpu = 0;
        uint64_t at = 0, bytes = 0;
    };
    std::map<std::pair<uint64_t, uint64_t>, DmaBuf> dma_bufs;  ///< by device and inode of the file

    // ---- sim::Node, host::CopySink
    void run_window(sim::SimTime end) override;
    [[nodiscard]] sim::SimTime next_event_time() const override;
    void on_copy_done(uint64_t cookie, sim::SimTime visible_at) override;

  private:
    /// A copy that an engine has; `second`: what follows it, if it needs two.
    struct Flight {
        std::shared_ptr<GpuStream> stream;
        std::optional<host::CopySpec> second;
    };
    [[nodiscard]] bool reaches(uint32_t gpu, uint32_t peer) const;
    void pump(sim::SimTime now);
    bool start_next(const std::shared_ptr<GpuStream>& stream, sim::SimTime now);
    void start(const std::shared_ptr<GpuStream>& stream, GpuWork& work, sim::SimTime now);
    void start_copy(const std::shared_ptr<GpuStream>& stream, GpuWork& work, sim::SimTime now);
    void finish_at(const std::shared_ptr<GpuStream>& stream, sim::SimTime at);
    void finish(GpuStream& stream, sim::SimTime at);
    void move_bytes(GpuStream& stream, GpuWork& work, sim::SimTime visible);
    void tell(uint32_t process, sim::SimTime visible);
    void drop_payload(GpuWork& work);

    Lab* lab_;
    uint32_t host_;
    HostGpusConfig config_;
    std::vector<std::shared_ptr<GpuMemory>> memories_;
    uint32_t modules_ = 0;
    std::map<size_t, uint32_t> acs_control_;  ///< what was written, by the port's place among the functions
    host::PayloadMover* mover_ = nullptr;
    GpuTiming timing_;
    host::AgentId first_agent_ = 0;
    sim::SimTime up_latency_;
    std::map<uint64_t, std::shared_ptr<GpuStream>> streams_;  ///< of all programs, by number
    std::map<uint64_t, Flight> copies_;                       ///< under way, by cookie
    uint64_t last_cookie_ = 0;
    std::multimap<sim::SimTime, std::shared_ptr<GpuStream>> timers_;  ///< when the stream's first work is done
    bool in_window_ = false;
    uint64_t ordinal_ = 0;
};

}  // namespace simverbs::server
