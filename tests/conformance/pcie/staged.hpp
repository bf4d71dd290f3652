// A buffer from GPU to GPU of another host: through the hosts' memories, or by GPUDirect RDMA.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "models/host/complex.hpp"

namespace simverbs::test {

struct TransferTime {
    sim::SimTime took;
    sim::SimTime gpu_link_busy, nic_link_busy;  ///< of the sending host, upwards
};

/// Host A's GPU 0 to host B's GPU 0 by their adapters 0, over a wire of so much payload a second.
class GpuTransfer {
  public:
    GpuTransfer(const host::PlatformSpec& p, sim::BitRate wire) : a_(p), b_(p), wire_(wire) {}

    /// The adapters read and write the GPUs' memories.
    TransferTime direct(uint64_t bytes) {
        for (uint64_t at = 0; at < bytes; at += kPiece)
            (void)send(a_.gpu_memory(0), b_.gpu_memory(0), sim::SimTime::zero());
        return finish(arrived_);
    }
    /// Copies to the host's memory, sends from there, copies from there at the other end: each as soon as a chunk is
    /// there. One chunk: one leg after the other.
    TransferTime staged(uint64_t bytes, uint64_t chunk) {
        const uint64_t chunks = (bytes + chunk - 1) / chunk;
        for (uint64_t k = 0; k < chunks; ++k) submit(a_, k, chunk, true, sim::SimTime::zero(), out_);
        for (uint64_t k = 0; k < chunks; ++k) {
            while (!out_.done.contains(k)) a_.run_until(a_.next_event_time() + sim::SimTime::ps(1));
            for (uint64_t at = 0; at < chunk; at += kPiece)
                (void)send(host::kNearestMemory, host::kNearestMemory, out_.done[k]);
            submit(b_, k, chunk, false, arrived_, in_);
        }
        b_.run_until(sim::SimTime::max());
        return finish(in_.done[chunks - 1]);
    }

  private:
    static constexpr uint32_t kPiece = 16 << 10;
    static constexpr size_t kUnderWay = 4;  ///< the adapter's reads
    static constexpr sim::SimTime kLatency = sim::SimTime::us(1);

    struct Sink final : host::CopySink {
        void on_copy_done(uint64_t cookie, sim::SimTime visible_at) override { done[cookie] = visible_at; }
        std::map<uint64_t, sim::SimTime> done;
    };
    static void submit(host::Complex& c, uint64_t cookie, uint64_t bytes, bool out, sim::SimTime now, Sink& sink) {
        host::CopySpec s;
        s.gpu = c.gpu_agent(0);
        (out ? s.from : s.to) = c.gpu_memory(0);
        s.bytes = bytes;
        s.cookie = cookie;
        c.submit(s, now, sink);
    }
    /// One piece by the adapters; it may leave from `ready` on.
    sim::SimTime send(host::DmaTarget from, host::DmaTarget to, sim::SimTime ready) {
        sim::SimTime& oldest = under_way_[pieces_++ % kUnderWay];
        const sim::SimTime now = std::max({ready, oldest, asked_});
        asked_ = now;
        a_.run_until(now);
        oldest = a_.dma_read(0, now, from, kPiece);
        wire_free_ = std::max(wire_free_, oldest) + wire_.time_for(kPiece);
        const sim::SimTime there = wire_free_ + kLatency;
        b_.run_until(there);
        return arrived_ = b_.dma_write(0, there, to, kPiece);
    }
    [[nodiscard]] TransferTime finish(sim::SimTime end) const {
        return {end, a_.up(a_.gpu_agent(0)).use.total(), a_.down(0).use.total()};
    }

    host::Complex a_, b_;
    sim::BitRate wire_;
    Sink out_, in_;
    std::vector<sim::SimTime> under_way_ = std::vector<sim::SimTime>(kUnderWay);
    sim::SimTime wire_free_, asked_, arrived_;
    uint64_t pieces_ = 0;
};

}  // namespace simverbs::test
