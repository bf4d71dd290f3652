#include "models/gpu/ring_all_reduce.hpp"

#include <algorithm>
#include <queue>
#include <vector>

#include "sim/check.hpp"

namespace simverbs::gpu {

namespace {

using host::Complex;
using sim::SimTime;

/// One GPU's place in a ring, and the way to the next.
struct Station {
    uint16_t host = 0, gpu = 0;
    bool leaves = false;        ///< the next is in another host, by the rail of this GPU
    uint64_t sent = 0;          ///< slices
    bool waiting = true;        ///< for a slice, or for the way; nothing of it is in the queue
    SimTime free;               ///< when the way to the next takes another slice
    std::vector<SimTime> came;  ///< when the slices of the one before were there, by number
};

struct Event {
    SimTime at;
    uint32_t station;
    bool delivery;  ///< a slice comes out of the rail for it; otherwise it can send one
    bool operator>(const Event& o) const {
        return at != o.at ? at > o.at : station != o.station ? station > o.station : delivery < o.delivery;
    }
};

class RingAllReduce {
  public:
    RingAllReduce(std::span<Complex* const> hosts, const AllReduceSpec& spec, SimTime now)
        : hosts_(hosts), spec_(spec), begin_(now), end_(now) {
        gpus_ = static_cast<uint32_t>(hosts[0]->platform().gpus.size());
        ranks_ = gpus_ * static_cast<uint32_t>(hosts.size());
        SIM_CHECK(ranks_ > 1 && (hosts.size() == 1 || hosts.size() % 2 == 0), ranks_, hosts.size());
        rings_ = hosts.size() == 1 ? 1 : gpus_;
        for (uint32_t r = 0; r < rings_; ++r) add_ring(r);
        const uint64_t block = std::max<uint64_t>(1, spec.bytes / rings_ / ranks_);
        slices_per_block_ = std::max<uint64_t>(1, (block + spec.slice - 1) / spec.slice);
        slice_ = static_cast<uint32_t>((block + slices_per_block_ - 1) / slices_per_block_);
        slices_ = 2 * (ranks_ - 1) * slices_per_block_;
        rails_.resize(hosts.size() * gpus_);
    }

    AllReduceResult run() {
        for (uint32_t s = 0; s < stations_.size(); ++s) {
            stations_[s].free = begin_;
            wake(s);
        }
        while (!events_.empty()) {
            const Event e = events_.top();
            events_.pop();
            if (e.delivery)
                come_off_rail(e);
            else
                send(e);
        }
        for (const Station& s : stations_) SIM_CHECK(s.sent == slices_, s.sent, slices_);
        AllReduceResult r;
        r.took = end_ - begin_;
        r.algorithm_gb_s = static_cast<double>(spec_.bytes) / r.took.in_s() * 1e-9;
        r.bus_gb_s = r.algorithm_gb_s * 2 * (ranks_ - 1) / ranks_;
        return r;
    }

  private:
    void add_ring(uint32_t r) {
        const auto hosts = static_cast<uint16_t>(hosts_.size());
        for (uint16_t h = 0; h < hosts; ++h)
            for (uint32_t i = 0; i < gpus_; ++i) {
                // Even hosts are entered at r and left at r+1 (downwards around), odd ones the other way.
                const uint32_t g = h % 2 == 0 ? (r + gpus_ - i) % gpus_ : (r + 1 + i) % gpus_;
                Station s;
                s.host = h;
                s.gpu = static_cast<uint16_t>(g);
                s.leaves = hosts_.size() > 1 && i + 1 == gpus_;
                stations_.push_back(std::move(s));
            }
    }
    [[nodiscard]] uint32_t next_of(uint32_t s) const { return s % ranks_ + 1 < ranks_ ? s + 1 : s + 1 - ranks_; }

    /// Puts a station into the queue if it has a slice to send, and is not there yet.
    void wake(uint32_t index) {
        Station& s = stations_[index];
        if (!s.waiting || s.sent == slices_) return;
        SimTime at = s.free;
        if (s.sent >= slices_per_block_) {
            const uint64_t needed = s.sent - slices_per_block_;
            if (s.came.size() <= needed) return;
            at = std::max(at, s.came[needed] + spec_.step);
        }
        s.waiting = false;
        events_.push({at, index, false});
    }

    void send(const Event& e) {
        Station& s = stations_[e.station];
        const uint32_t to = next_of(e.station);
        Complex& host = *hosts_[s.host];
        s.waiting = true;
        ++s.sent;
        if (s.leaves) {
            const SimTime read = host.dma_read(s.gpu, e.at, host.gpu_memory(s.gpu), slice_);
            SimTime& rail = rails_[s.host * gpus_ + s.gpu];
            const SimTime span = spec_.rail_rate.time_for(slice_);
            rail = std::max(rail + span, read);
            events_.push({rail + spec_.rail_latency, to, true});
            // The adapter reads ahead as far as hides the time that a read takes.
            s.free = std::max(e.at, rail - kReadAhead);
        } else {
            const Station& next = stations_[to];
            const SimTime there = host.dma_write(host.gpu_agent(s.gpu), e.at, host.gpu_memory(next.gpu), slice_);
            // The way is free for the next slice a slice's time later than it was for this.
            s.free = std::max(e.at, there - kStoresAhead);
            arrive(to, there);
        }
        wake(e.station);
    }
    void come_off_rail(const Event& e) {
        const Station& s = stations_[e.station];
        Complex& host = *hosts_[s.host];
        arrive(e.station, host.dma_write(s.gpu, e.at, host.gpu_memory(s.gpu), slice_));
    }
    void arrive(uint32_t index, SimTime at) {
        stations_[index].came.push_back(at);
        end_ = std::max(end_, at);
        wake(index);
    }

    /// What is under way on a rail's read side, and of stores to a peer, while the next slice is begun.
    static constexpr SimTime kReadAhead = SimTime::us(4);
    static constexpr SimTime kStoresAhead = SimTime::us(2);

    std::span<Complex* const> hosts_;
    AllReduceSpec spec_;
    SimTime begin_, end_;
    uint32_t gpus_ = 0, ranks_ = 0, rings_ = 0, slice_ = 0;
    uint64_t slices_per_block_ = 0, slices_ = 0;
    std::vector<Station> stations_;
    std::vector<SimTime> rails_;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
};

}  // namespace

AllReduceResult ring_all_reduce(std::span<Complex* const> hosts, const AllReduceSpec& spec, SimTime now) {
    return RingAllReduce(hosts, spec, now).run();
}

}  // namespace simverbs::gpu
