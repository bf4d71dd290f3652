// A host's inside for tests: fixed times, one queue a direction, and a diary of who asked when.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "models/host/host_complex.hpp"

namespace simverbs::host {

class FakeComplex final : public HostComplex {
  public:
    sim::SimTime read = sim::SimTime::ns(500), write = sim::SimTime::ns(300), mmio = sim::SimTime::ns(100);
    sim::SimTime nominal = sim::SimTime::ns(400);  ///< of a read; 100 ns less of a write
    sim::SimTime busy;                             ///< each request holds its queue for this long
    MemoryId out_of_reach = 0x1234;
    std::vector<std::string> diary;
    std::vector<DmaTarget> targets;
    std::vector<std::string> requests;  ///< "read 64 of memory 3"

    sim::SimTime mmio_write(AgentId, sim::SimTime now, uint32_t, MemoryId) override { return now + mmio; }
    sim::SimTime least_mmio_write(AgentId) const override { return mmio; }
    sim::SimTime dma_read(AgentId agent, sim::SimTime now, DmaTarget target, uint32_t bytes) override {
        return ask("read", agent, now, target, bytes, reads_free_) + read;
    }
    sim::SimTime dma_write(AgentId agent, sim::SimTime now, DmaTarget target, uint32_t bytes) override {
        return ask("write", agent, now, target, bytes, writes_free_) + write;
    }
    sim::SimTime accepts_write(AgentId) const override { return sim::SimTime::zero(); }
    sim::SimTime interrupt(AgentId, sim::SimTime now, MemoryId) override { return now + write; }
    bool reachable(AgentId, MemoryId memory) const override { return memory != out_of_reach; }
    sim::SimTime nominal_mmio_write(AgentId, uint32_t) const override { return sim::SimTime::ns(80); }
    sim::SimTime nominal_read(AgentId, uint32_t) const override { return nominal; }
    sim::SimTime nominal_write(AgentId, uint32_t) const override { return nominal - sim::SimTime::ns(100); }
    sim::SimTime cpu_store(MemoryId, sim::SimTime now, MemoryId, uint64_t) override { return now; }
    sim::SimTime cpu_load(MemoryId, sim::SimTime now, MemoryId, uint64_t) override { return now; }
    void submit(const CopySpec& copy, sim::SimTime now, CopySink& sink) override {
        note("submit", copy.gpu, now);
        copies_.push_back({now + sim::SimTime::ns(static_cast<int64_t>(copy.bytes)), copy.cookie, &sink});
    }
    sim::SimTime next_event_time() const override {
        auto next = sim::SimTime::max();
        for (const Copy& c : copies_) next = std::min(next, c.at);
        return next;
    }
    void run_until(sim::SimTime end) override {
        while (next_event_time() < end) {
            const auto first = std::min_element(copies_.begin(), copies_.end(),
                                                [](const Copy& a, const Copy& b) { return a.at < b.at; });
            const Copy done = *first;
            copies_.erase(first);
            note("copied", static_cast<AgentId>(done.cookie), done.at);
            done.sink->on_copy_done(done.cookie, done.at);
        }
    }
    void note(const std::string& what, AgentId agent, sim::SimTime now) {
        diary.push_back(std::to_string(now.in_ps() / 1000) + " " + what + " " + std::to_string(agent));
    }

  private:
    struct Copy {
        sim::SimTime at;
        uint64_t cookie;
        CopySink* sink;
    };
    sim::SimTime ask(const char* what, AgentId agent, sim::SimTime now, DmaTarget target, uint32_t bytes,
                     sim::SimTime& free) {
        note(what, agent, now);
        targets.push_back(target);
        requests.push_back(std::string(what) + " " + std::to_string(bytes) + " of memory " +
                           (target.memory == kNearestMemory ? "near" : std::to_string(target.memory)));
        const sim::SimTime start = std::max(now, free);
        free = start + busy;
        return start;
    }
    sim::SimTime reads_free_, writes_free_;
    std::vector<Copy> copies_;
};

}  // namespace simverbs::host
