// Records what goes over the wires between programs' queue pairs. It taps the places that captures and --explain look
// at.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "models/fabric/adapters.hpp"
#include "models/link/link.hpp"
#include "models/switch/switch.hpp"
#include "models/timeline/timeline.hpp"
#include "models/timeline/work_record.hpp"

namespace simverbs::timeline {

/// Keeps the first packets of a run, in memory; of what comes later it keeps counts. Attach it before the first packet.
/// The engine must run in one thread, as it does with programs. Must outlive what it is attached to.
class Recorder {
  public:
    /// `most_packets`: that many are kept, and as many work requests.
    explicit Recorder(size_t most_packets);
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;
    ~Recorder();

    /// Taps all wired ports of an adapter, and its queue pairs.
    void attach(fabric::Adapters& adapters, size_t nic, const std::string& host, const std::string& device);
    /// Taps the faults of a link; `name`: "h0.mlx5_0/1 - sw0/1".
    void attach(link::Link& link, const std::string& name);
    /// Taps the drops of a switch.
    void attach(fabric::Switch& fabric_switch);

    /// Everything, once; the run ended at `end`.
    [[nodiscard]] Timeline take(sim::SimTime end);

  private:
    class PortTap;
    class FateTap;
    friend class PortTap;
    friend class FateTap;
    struct PortFacts {
        uint32_t index = 0, adapter = 0;
    };

    /// The kept packet behind a record in the pool; nullptr: it is none of the kept.
    [[nodiscard]] Packet* find_open(const wire::Packet& packet);
    /// Something was done to a packet that may be one of those that are not kept.
    void count_left_out(const wire::Packet& packet);
    void on_sent(const PortFacts& port, uint32_t wire_bytes, sim::SimTime at, const wire::Packet& packet);
    void on_arrived(const PortFacts& port, sim::SimTime at, const wire::Packet& packet);
    [[nodiscard]] Packet record_of(const PortFacts& port, uint32_t wire_bytes, sim::SimTime at,
                                   const wire::Packet& packet);
    void cut(Timeline& timeline) const;

    size_t most_packets_;
    WorkRecord work_;
    const wire::PacketPool* pool_ = nullptr;
    host::PayloadMover* mover_ = nullptr;
    std::vector<Port> ports_;
    std::unordered_map<wire::LeafId, PortFacts> port_of_leaf_;
    std::vector<std::unique_ptr<PortTap>> port_taps_;
    std::vector<std::unique_ptr<FateTap>> fate_taps_;
    std::vector<Packet> packets_;
    std::unordered_map<wire::ExtraIndex, uint32_t> open_;  ///< kept packets under way, by their records
    std::unordered_set<wire::ExtraIndex> open_left_out_;   ///< others
    std::optional<sim::SimTime> first_left_out_;
    uint64_t packets_sent_ = 0, faults_left_out_ = 0, retransmissions_left_out_ = 0;
    uint32_t adapters_ = 0;
};

}  // namespace simverbs::timeline
