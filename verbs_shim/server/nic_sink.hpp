// The upward edge of one NIC: what its HCA makes goes to the process that owns the object, to wait for its stamp.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>

#include "models/hca/host_sink.hpp"

namespace simverbs::server {

class Lab;
struct Client;
struct Delivery;

class NicSink final : public hca::HostSink {
  public:
    NicSink(Lab& lab, uint32_t host, uint32_t nic) : lab_(&lab), host_(host), nic_(nic) {}

    void on_cqe(hca::CqHandle cq, const hca::Cqe& cqe, sim::SimTime visible_at) override;
    void on_cq_event(hca::CqHandle cq, sim::SimTime visible_at) override;
    void on_async_event(const hca::AsyncEvent& event, sim::SimTime visible_at) override;
    void on_memory_written(host::AddressSpaceId space, uint64_t va, uint64_t length, bool part,
                           sim::SimTime visible_at) override;
    void on_incident(const hca::Incident& incident) override;

    /// Whose object it is, and what the process calls it.
    struct Owned {
        Client* client = nullptr;
        uint32_t handle = 0;
    };
    std::unordered_map<hca::CqHandle, Owned> cqs;
    std::unordered_map<hca::SrqHandle, Owned> srqs;
    std::unordered_map<uint32_t, Owned> qps;  ///< by QP number
    std::map<hca::OwnerId, Owned> contexts;   ///< in order: events for all of them are queued in it

    void forget(const Client& client);

  private:
    void queue(Client& client, Delivery delivery, sim::SimTime visible_at);

    Lab* lab_;
    uint32_t host_, nic_;
    uint64_t ordinal_ = 0;
};

}  // namespace simverbs::server
