#include "models/host/host_port.hpp"

#include <algorithm>
#include <utility>

namespace simverbs::host {

namespace {

constexpr uint32_t kDoorbellBytes = 8, kMessageBytes = 4;

/// What the path is longer than the nominal one; where it is shorter, the adapter is the bottleneck.
sim::SimTime longer_by(sim::SimTime path, sim::SimTime nominal) {
    return std::max(path - nominal, sim::SimTime::zero());
}

}  // namespace

void HostPort::attach(HostComplex& complex, AgentId agent) {
    complex_ = &complex;
    agent_ = agent;
    params_.mmio_write += longer_by(complex.least_mmio_write(agent), complex.nominal_mmio_write(agent, kDoorbellBytes));
}

/// `done`: what the adapter's own read path says. Two queues bound a read, the adapter's and the host's.
sim::SimTime HostPort::read_through(sim::SimTime now, uint32_t bytes, sim::SimTime extra, sim::SimTime done) {
    const DmaTarget target = std::exchange(target_, {});
    if (crosses(target.memory)) {
        const sim::SimTime alone = read_byte_time_.of(bytes) + extra + params_.read_round_trip;
        const sim::SimTime path = complex_->dma_read(agent_, now, target, bytes);
        done = std::max(done, path - complex_->nominal_read(agent_, bytes) + alone);
    }
    return last_read_ = std::max(last_read_, done);
}

sim::SimTime HostPort::write_through(sim::SimTime now, uint32_t bytes, sim::SimTime done) {
    const DmaTarget target = std::exchange(target_, {});
    if (crosses(target.memory)) {
        const sim::SimTime alone = write_byte_time_.of(bytes) + params_.write_latency;
        const sim::SimTime path = complex_->dma_write(agent_, now, target, bytes);
        done = std::max(done, path - complex_->nominal_write(agent_, bytes) + alone);
    }
    return last_write_ = std::max(last_write_, done);
}

/// The write follows the read, but is asked for at once: requests come in the order of their times.
sim::SimTime HostPort::find_read_write_delay(sim::SimTime now, uint32_t bytes) {
    const DmaTarget target = std::exchange(target_, {});
    if (!crosses(target.memory)) return sim::SimTime::zero();
    const sim::SimTime read = complex_->dma_read(agent_, now, target, bytes) - now;
    const sim::SimTime write = complex_->dma_write(agent_, now, target, bytes) - now;
    return longer_by(read, complex_->nominal_read(agent_, bytes)) +
           longer_by(write, complex_->nominal_write(agent_, bytes));
}

sim::SimTime HostPort::interrupt_through(sim::SimTime now, sim::SimTime visible, MemoryId cpu) {
    const sim::SimTime path = complex_->interrupt(agent_, now, cpu) - now;
    return visible + longer_by(path, complex_->nominal_write(agent_, kMessageBytes));
}

}  // namespace simverbs::host
