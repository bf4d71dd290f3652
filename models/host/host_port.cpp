#include "models/host/host_port.hpp"

#include <algorithm>

namespace simverbs::host {

namespace {

/// What the path is longer than the nominal one; where it is shorter, the adapter is the bottleneck.
sim::SimTime longer_by(sim::SimTime path, sim::SimTime nominal) {
    return std::max(path - nominal, sim::SimTime::zero());
}

}  // namespace

void HostPort::attach(HostComplex& complex, AgentId agent, const HostComplex& nominal) {
    complex_ = &complex;
    nominal_ = &nominal;
    agent_ = agent;
    params_.mmio_write += longer_by(complex.least_mmio_write(agent), nominal.least_mmio_write(0));
}

/// `done`: what the adapter's own read path says, on the nominal one. Two queues bound a read: the adapter's, behind
/// which the real path is longer, and the host's.
sim::SimTime HostPort::read_through(sim::SimTime now, uint32_t bytes, sim::SimTime extra, MemoryId memory,
                                    sim::SimTime done) {
    if (memory != kAdapterMemory) {
        const sim::SimTime nominal = nominal_->idle_read(0, kNearestMemory, bytes);
        const sim::SimTime alone = read_byte_time_.of(bytes) + extra + params_.read_round_trip;
        const sim::SimTime host = complex_->dma_read(agent_, now, memory, bytes) - nominal + alone;
        done = std::max(done + longer_by(complex_->idle_read(agent_, memory, bytes), nominal), host);
    }
    return last_read_ = std::max(last_read_, done);
}

sim::SimTime HostPort::write_through(sim::SimTime now, uint32_t bytes, MemoryId memory, sim::SimTime done) {
    if (memory != kAdapterMemory) {
        const sim::SimTime nominal = nominal_->idle_write(0, kNearestMemory, bytes);
        const sim::SimTime alone = write_byte_time_.of(bytes) + params_.write_latency;
        const sim::SimTime host = complex_->dma_write(agent_, now, memory, bytes) - nominal + alone;
        done = std::max(done + longer_by(complex_->idle_write(agent_, memory, bytes), nominal), host);
    }
    return last_write_ = std::max(last_write_, done);
}

sim::SimTime HostPort::read_write_delay(sim::SimTime now, uint32_t bytes, MemoryId memory) {
    if (complex_ == nullptr || memory == kAdapterMemory) return sim::SimTime::zero();
    const sim::SimTime read = complex_->dma_read(agent_, now, memory, bytes) - now;
    // The write follows the read; asked for now, since requests come in the order of their times.
    const sim::SimTime write = complex_->dma_write(agent_, now, memory, bytes) - now;
    return longer_by(read, nominal_->idle_read(0, kNearestMemory, bytes)) +
           longer_by(write, nominal_->idle_write(0, kNearestMemory, bytes));
}

}  // namespace simverbs::host
