// The queue pairs of all adapters, their states, and their work requests from post to completion.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "models/hca/qp_observer.hpp"
#include "models/timeline/timeline.hpp"

namespace simverbs::timeline {

/// What the taps of adapters write. Keeps `most` work requests, of which CQEs and counts of others are told.
class WorkRecord {
  public:
    explicit WorkRecord(size_t most) : most_(most) {}
    WorkRecord(const WorkRecord&) = delete;
    WorkRecord& operator=(const WorkRecord&) = delete;
    ~WorkRecord();

    /// The tap of an adapter; its QPs stand at `port` until they have sent by another.
    [[nodiscard]] hca::QpObserver& tap(uint32_t adapter, uint32_t port);
    /// Index of a queue pair; QP 1 is made when it is asked for. kNone: there is no such.
    [[nodiscard]] uint32_t find(uint32_t adapter, uint32_t qpn);

    /// An ACK timeout, or a failed check.
    struct Trouble {
        sim::SimTime at;
        uint32_t qp = kNone;
        bool is_timeout = false;
        bool enters_error = false;
        std::string text;
    };

    std::vector<QueuePair> queue_pairs;
    std::vector<StateChange> states;
    std::vector<WorkRequest> work;
    std::vector<Trouble> troubles;
    uint64_t work_left_out = 0;

  private:
    class Tap;
    friend class Tap;
    /// Work requests of a queue that are kept, by the number of their WQE.
    using Queue = std::unordered_map<uint32_t, uint32_t>;
    struct QueueKey {
        uint32_t adapter = 0;
        uint32_t kind = 0;  ///< 0: sends of a QP, 1: its receives, 2: an SRQ
        uint32_t number = 0;
        friend auto operator<=>(const QueueKey&, const QueueKey&) = default;
    };
    void post(const QueueKey& queue, uint32_t number, WorkRequest request);

    size_t most_;
    std::vector<std::unique_ptr<hca::QpObserver>> taps_;
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> by_number_;  ///< (adapter, QP number) → index
    std::map<uint32_t, uint32_t> port_of_adapter_;
    std::map<QueueKey, Queue> queues_;
};

}  // namespace simverbs::timeline
