#include "models/timeline/work_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "models/hca/explanation.hpp"

namespace simverbs::timeline {

namespace {
constexpr uint32_t kSends = 0, kReceives = 1, kSrq = 2;
}  // namespace

class WorkRecord::Tap final : public hca::QpObserver {
  public:
    Tap(WorkRecord& record, uint32_t adapter) : r_(record), adapter_(adapter) {}

    void on_qp_created(uint32_t qpn, hca::QpType type, sim::SimTime at) override {
        const auto index = static_cast<uint32_t>(r_.queue_pairs.size());
        r_.by_number_[{adapter_, qpn}] = index;
        QueuePair qp;
        qp.adapter = adapter_;
        qp.port = r_.port_of_adapter_[adapter_];
        qp.qpn = qpn;
        qp.type = type;
        qp.created = at;
        r_.queue_pairs.push_back(qp);
        r_.states.push_back({at, index, hca::QpState::Reset, true});
    }

    void on_incident(const hca::Incident& i) override {
        const uint32_t qp = r_.find(adapter_, i.qp_num);
        if (qp == kNone) return;
        if (i.from != i.to && r_.states.size() < r_.most_) r_.states.push_back({i.at, qp, i.to, i.by_program});
        if (i.check != hca::Check::None && r_.troubles.size() < r_.most_)
            r_.troubles.push_back({i.at, qp, false, i.from != i.to, hca::to_sentence(i)});
    }

    void on_qp_destroyed(uint32_t qpn, sim::SimTime at) override {
        if (const uint32_t qp = r_.find(adapter_, qpn); qp != kNone) r_.queue_pairs[qp].destroyed = at;
    }

    void on_send_posted(uint32_t qpn, uint32_t number, const hca::SendWr& wr, uint32_t length,
                        sim::SimTime at) override {
        WorkRequest w;
        w.posted = at;
        w.qp = r_.find(adapter_, qpn);
        w.opcode = wr.opcode;
        w.signaled = (wr.send_flags & hca::kSignaled) != 0;
        w.wr_id = wr.wr_id;
        w.length = length;
        r_.post({adapter_, kSends, qpn}, number, w);
    }

    void on_receive_posted(hca::ReceiveQueueName queue, uint32_t number, const hca::RecvWr& wr,
                           sim::SimTime at) override {
        WorkRequest w;
        w.posted = at;
        w.is_send = false;
        w.from_srq = queue.is_srq;
        w.qp = queue.is_srq ? kNone : r_.find(adapter_, queue.number);
        w.wr_id = wr.wr_id;
        r_.post({adapter_, queue.is_srq ? kSrq : kReceives, queue.number}, number, w);
    }

    void on_send_done(uint32_t qpn, uint32_t number, hca::WcStatus status, sim::SimTime at) override {
        WorkRequest* w = kept({adapter_, kSends, qpn}, number);
        if (w == nullptr) return;
        w->completed = at;
        w->status = status;
    }

    void on_cqe(const hca::Cqe& cqe, sim::SimTime visible_at) override {
        WorkRequest* w = nullptr;
        if (cqe.is_send)
            w = kept({adapter_, kSends, cqe.qp_num}, cqe.queue_tail - 1);
        else if (cqe.srq == 0)
            w = kept({adapter_, kReceives, cqe.qp_num}, cqe.queue_tail - 1);
        else
            w = take_from_srq(cqe);
        if (w == nullptr) return;
        w->completed = visible_at;
        w->has_cqe = true;
        w->status = cqe.status;
        if (cqe.is_send) return;
        w->qp = r_.find(adapter_, cqe.qp_num);
        w->length = cqe.byte_len;
    }

    void on_ack_timeout(uint32_t qpn, uint32_t psn, uint32_t retries_left, sim::SimTime at) override {
        const uint32_t qp = r_.find(adapter_, qpn);
        if (qp == kNone || r_.troubles.size() >= r_.most_) return;
        const std::string then =
            retries_left == 0 ? "no retry is left"
                              : fmt::format("goes back to PSN {}, {} of its retries left", psn, retries_left - 1);
        r_.troubles.push_back({at, qp, true, false, fmt::format("local ACK timeout: {}", then)});
    }

  private:
    WorkRequest* kept(const QueueKey& key, uint32_t number) {
        const auto queue = r_.queues_.find(key);
        if (queue == r_.queues_.end()) return nullptr;
        const auto at = queue->second.find(number);
        return at == queue->second.end() ? nullptr : &r_.work[at->second];
    }

    /// QPs take receives of an SRQ in order and complete them in any: the oldest with the CQE's wr_id it is.
    WorkRequest* take_from_srq(const hca::Cqe& cqe) {
        const auto queue = r_.queues_.find({adapter_, kSrq, cqe.srq});
        if (queue == r_.queues_.end()) return nullptr;
        WorkRequest* oldest = nullptr;
        uint32_t number = 0;
        for (const auto& [of, index] : queue->second) {
            WorkRequest& w = r_.work[index];
            if (w.wr_id != cqe.wr_id || (oldest != nullptr && static_cast<int32_t>(of - number) > 0)) continue;
            oldest = &w;
            number = of;
        }
        if (oldest != nullptr) queue->second.erase(number);
        return oldest;
    }

    WorkRecord& r_;
    uint32_t adapter_;
};

WorkRecord::~WorkRecord() = default;

hca::QpObserver& WorkRecord::tap(uint32_t adapter, uint32_t port) {
    port_of_adapter_[adapter] = port;
    return *taps_.emplace_back(std::make_unique<Tap>(*this, adapter));
}

uint32_t WorkRecord::find(uint32_t adapter, uint32_t qpn) {
    const auto found = by_number_.find({adapter, qpn});
    if (found != by_number_.end()) return found->second;
    if (qpn != 1) return kNone;
    const auto index = static_cast<uint32_t>(queue_pairs.size());
    QueuePair qp;
    qp.adapter = adapter;
    qp.port = port_of_adapter_[adapter];
    qp.qpn = qpn;
    qp.type = hca::QpType::Ud;
    qp.is_management = true;
    queue_pairs.push_back(qp);
    return by_number_[{adapter, qpn}] = index;
}

void WorkRecord::post(const QueueKey& queue, uint32_t number, WorkRequest request) {
    if (work.size() >= most_) {
        ++work_left_out;
        return;
    }
    queues_[queue][number] = static_cast<uint32_t>(work.size());
    work.push_back(request);
}

}  // namespace simverbs::timeline
