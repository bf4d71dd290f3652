// QP 1 of an adapter: management datagrams, which software of the host answers and not a program.
#pragma once

#include <array>
#include <cstdint>

#include "models/hca/verbs_types.hpp"
#include "sim/sim_time.hpp"

namespace simverbs::hca {

/// Bytes of every management datagram.
inline constexpr size_t kMadBytes = 256;

/// A management datagram that came to QP 1, with what its headers said of the sender.
struct ReceivedMad {
    std::array<uint8_t, kMadBytes> bytes{};
    uint8_t port = 1;
    Gid sgid{}, dgid{};  ///< RoCE, or InfiniBand with a GRH
    bool has_grh = false;
    uint16_t slid = 0;
    uint8_t sl = 0;
    uint32_t src_qp = 1;
};

/// Software behind QP 1 (Hca::set_management). Called while the adapter runs its window, in the order of its events.
class ManagementAgent {
  public:
    virtual ~ManagementAgent() = default;
    virtual void on_mad(const ReceivedMad& mad, sim::SimTime now) = 0;
    /// When on_time wants to be called, SimTime::max() if not at all.
    [[nodiscard]] virtual sim::SimTime next_time() const noexcept = 0;
    virtual void on_time(sim::SimTime now) = 0;
};

}  // namespace simverbs::hca
