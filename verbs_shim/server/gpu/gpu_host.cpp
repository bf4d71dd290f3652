#include "verbs_shim/server/gpu/gpu_host.hpp"

#include <algorithm>

#include "sim/engine.hpp"
#include "verbs_shim/server/lab.hpp"

namespace simverbs::server {

using sim::SimTime;

namespace {

/// What a CPU copies by itself: between two places of host memory, and to and from the pinned buffers of the driver,
/// through which pageable memory goes. Pieces of the latter overlap with the GPU's copying.
constexpr sim::BitRate kCpuCopyRate = sim::BitRate::gbps(96);
constexpr uint64_t kStagingPiece = uint64_t{64} << 10;
/// Launch and end of work inside of a GPU.
constexpr SimTime kKernelOverhead = SimTime::us(2);
constexpr SimTime kFunctionLatency = SimTime::us(5);   ///< from a stream's turn to the host function
constexpr uint64_t kPatternPiece = uint64_t{4} << 20;  ///< bytes of a fill that exist at once

SimTime time_of(uint64_t bytes, sim::BitRate rate) {
    constexpr double kPsOfABit = 1e12;
    return SimTime::ps(
        static_cast<int64_t>(static_cast<double>(bytes) * 8 * kPsOfABit / static_cast<double>(rate.in_bps())));
}

SimTime cpu_copy(uint64_t bytes) {
    return time_of(bytes, kCpuCopyRate);
}

}  // namespace

GpuHost::GpuHost(Lab& lab, uint32_t host, const HostGpusConfig& config, host::AddressSpaceId first_space)
    : lab_(&lab), host_(host), config_(config) {
    modules_ = (config.peermem ? protocol::kModulePeermem : 0U) | (config.gdrdrv ? protocol::kModuleGdrdrv : 0U);
    for (uint32_t gpu = 0; gpu < config.gpus.size(); ++gpu)
        memories_.push_back(
            std::make_shared<GpuMemory>(lab.memory(), first_space + gpu, gpu, config.gpus[gpu].info.bytes));
}

void GpuHost::attach(host::PayloadMover& mover, GpuTiming timing, host::AgentId first_agent, SimTime up_latency) {
    mover_ = &mover;
    timing_ = std::move(timing);
    first_agent_ = first_agent;
    up_latency_ = up_latency;
    for (uint32_t gpu = 0; gpu < size(); ++gpu) {
        memories_[gpu]->set_mover(&mover);
        uint64_t& peers = config_.gpus[gpu].info.peers;
        peers = 0;
        for (uint32_t peer = 0; peer < size(); ++peer)
            if (peer != gpu && reaches(gpu, peer)) peers |= uint64_t{1} << peer;
    }
}

bool GpuHost::reaches(uint32_t gpu, uint32_t peer) const {
    return timing_.complex->reachable(static_cast<host::AgentId>(first_agent_ + gpu), memory_id(peer));
}

void GpuHost::detach() {
    mover_ = nullptr;
    for (const auto& memory : memories_) memory->set_mover(nullptr);
}

std::shared_ptr<GpuStream> GpuHost::make_stream(const Client& client, uint32_t gpu, bool blocking) {
    auto stream = std::make_shared<GpuStream>();
    stream->number = ++last_number;
    stream->id = stream->number;
    stream->gpu = gpu;
    stream->process = client.process;
    stream->blocking = blocking;
    streams_[stream->number] = stream;
    return stream;
}

std::shared_ptr<GpuStream> GpuHost::stream(Client& client, uint32_t gpu, uint64_t id, uint32_t slot) {
    GpuClient& g = *client.gpus;
    if (id == protocol::kStreamDefault || id == protocol::kStreamLegacy) {
        GpuPart& part = g.parts[gpu];
        if (part.legacy == nullptr) {
            part.legacy = make_stream(client, gpu, true);
            part.legacy->legacy = true;
        }
        return part.legacy;
    }
    constexpr uint64_t kThreads = uint64_t{1} << 48;  // above what is counted
    if (id == protocol::kStreamPerThread) id = kThreads | uint64_t{gpu} << 32 | slot;
    if (const auto it = g.streams.find(id); it != g.streams.end()) return it->second;
    if (id < kThreads) return nullptr;
    return g.streams[id] = make_stream(client, gpu, true);
}

void GpuHost::submit(Client& client, const std::shared_ptr<GpuStream>& stream, GpuWork&& work, SimTime now) {
    // The legacy stream and the blocking ones of a program wait for each other.
    for (const auto& [number, other] : streams_) {
        if (other == stream || other->process != client.process || other->gpu != stream->gpu) continue;
        const bool waits = (stream->legacy && other->blocking) || (stream->blocking && other->legacy);
        if (waits && other->done < other->submitted) work.after.push_back({other, other->submitted});
    }
    if (work.kind == GpuWorkKind::Record) work.event->point = {stream, stream->submitted + 1};
    stream->works.push_back(std::move(work));
    ++stream->submitted;
    pump(now);
}

/// Starts whatever can start; what is done at once may let others start.
void GpuHost::pump(SimTime now) {
    for (bool again = true; again;) {
        again = false;
        for (auto it = streams_.begin(); it != streams_.end(); ++it) {
            const auto stream = it->second;
            while (start_next(stream, now)) again = true;
        }
        std::erase_if(streams_, [](const auto& entry) {
            const GpuStream& s = *entry.second;
            return s.ended || (s.released && s.works.empty());
        });
    }
}

bool GpuHost::start_next(const std::shared_ptr<GpuStream>& stream, SimTime now) {
    GpuStream& s = *stream;
    if (s.ended || s.started == s.works.size()) return false;
    GpuWork& next = s.works[s.started];
    // Copies of one engine queue up in it; everything else waits for what is before it.
    if (s.started > 0) {
        const GpuWork& last = s.works[s.started - 1];
        const bool both_copy = next.kind == GpuWorkKind::Copy && last.kind == GpuWorkKind::Copy;
        if (!both_copy || last.engine != next.engine || last.engine == 0) return false;
    }
    for (const GpuPoint& point : next.after)
        if (point.stream->done < point.count && !point.stream->ended) return false;
    next.after.clear();
    next.started = true;
    next.began = now;
    ++s.started;
    start(stream, next, now);
    return true;
}

void GpuHost::start(const std::shared_ptr<GpuStream>& stream, GpuWork& work, SimTime now) {
    switch (work.kind) {
        case GpuWorkKind::Copy:
            start_copy(stream, work, now);
            return;
        case GpuWorkKind::Fill: {
            const auto rate = work.to.is_host ? kCpuCopyRate : config_.gpus[stream->gpu].memory_rate;
            finish_at(stream, now + kKernelOverhead + time_of(work.bytes * work.rows, rate));
            return;
        }
        case GpuWorkKind::HostFunction: {
            Client* client = lab_->client_of_process(stream->process);
            if (client == nullptr || client->gpus == nullptr) return;
            client->gpus->ready_functions.push_back(work.function);
            client->gpus->running_functions[work.function] = stream;
            tell(stream->process, now + kFunctionLatency + up_latency_);
            return;
        }
        case GpuWorkKind::Record:
        case GpuWorkKind::Nothing:
            finish(*stream, now);
            return;
    }
}

void GpuHost::read_source(GpuWork& work) {
    if (work.payload != wire::kNoStream) return;
    std::vector<host::MemoryRange> source;
    for (uint64_t row = 0; row < work.rows; ++row)
        source.push_back({work.from.space, work.from.at + row * work.from_pitch, work.bytes});
    work.payload = mover_->open(source);
    (void)mover_->dma_read(work.payload, work.bytes * work.rows);
}

void GpuHost::start_copy(const std::shared_ptr<GpuStream>& stream, GpuWork& work, SimTime now) {
    read_source(work);
    const uint64_t bytes = work.bytes * work.rows;
    if (work.from.is_host && work.to.is_host) return finish_at(stream, now + kKernelOverhead + cpu_copy(bytes));
    if (!work.from.is_host && !work.to.is_host && work.from.memory == work.to.memory) {
        return finish_at(stream, now + kKernelOverhead + time_of(2 * bytes, config_.gpus[stream->gpu].memory_rate));
    }
    // To the GPU, from it, to its peers: one engine each where it has as many.
    const uint32_t gpu = (work.from.is_host ? work.to : work.from).memory - config_.numa_nodes;
    const uint32_t engines = std::max(config_.gpus[gpu].info.copy_engines, 1U);
    const uint32_t wanted = work.engine == 0 ? 0U : work.engine - 1U;
    const uint64_t cookie = ++last_cookie_;
    Flight& flight = copies_[cookie];
    flight.stream = stream;
    const host::CopySpec copy{static_cast<host::AgentId>(first_agent_ + gpu),
                              static_cast<uint8_t>(std::min(wanted, engines - 1)),
                              work.from.memory,
                              work.to.memory,
                              bytes,
                              cookie};
    if (!work.from.is_host && !work.to.is_host) {
        const uint32_t peer = work.to.memory - config_.numa_nodes;
        if (!reaches(gpu, peer)) {  // by way of the driver's buffers in host memory
            host::CopySpec second = copy;
            second.gpu = static_cast<host::AgentId>(first_agent_ + peer);
            second.engine = 0;
            second.from = host::kNearestMemory;
            flight.second = second;
            host::CopySpec first = copy;
            first.to = host::kNearestMemory;
            return timing_.submit(first, now, *this);
        }
    }
    timing_.submit(copy, now, *this);
}

void GpuHost::on_copy_done(uint64_t cookie, SimTime visible_at) {
    const auto it = copies_.find(cookie);
    if (it == copies_.end()) return;
    const auto stream = it->second.stream;
    if (it->second.second) {
        const host::CopySpec second = *it->second.second;
        it->second.second.reset();
        return timing_.submit(second, visible_at, *this);
    }
    copies_.erase(it);
    if (stream->ended) return;
    const GpuWork& work = stream->works.front();
    SimTime at = visible_at - std::min(up_latency_, visible_at);
    const GpuPlace& host_side = work.from.is_host ? work.from : work.to;
    if (host_side.is_host && !host_side.pinned) {
        const uint64_t bytes = work.bytes * work.rows;
        at = std::max(at, work.began + cpu_copy(bytes)) + cpu_copy(std::min(bytes, kStagingPiece));
    }
    finish_at(stream, at);
}

void GpuHost::finish_at(const std::shared_ptr<GpuStream>& stream, SimTime at) {
    timers_.emplace(at, stream);
    if (!in_window_) engine().wake(id(), std::max(at, engine().frontier()));
}

void GpuHost::function_done(const std::shared_ptr<GpuStream>& stream, SimTime now, SimTime took) {
    if (stream->works.empty()) return;
    finish_at(stream, std::max(now, stream->works.front().began + took));
}

/// The stream's first work is done at `at`.
void GpuHost::finish(GpuStream& s, SimTime at) {
    if (s.works.empty() || s.started == 0) return;
    const SimTime visible = at + up_latency_;
    GpuWork work = std::move(s.works.front());
    s.works.pop_front();
    --s.started;
    ++s.done;
    s.reached = std::max(s.reached, at);
    s.visible = std::max(s.visible, visible);
    if (work.kind == GpuWorkKind::Copy || work.kind == GpuWorkKind::Fill) move_bytes(s, work, visible);
    if (work.kind == GpuWorkKind::Record && work.event->point.stream.get() == &s && work.event->point.count == s.done) {
        work.event->reached = s.reached;
        work.event->visible = s.visible;
    }
    for (auto it = s.waiters.begin(); it != s.waiters.end();) {
        if (s.done < it->second) {
            ++it;
            continue;
        }
        tell(it->first, s.visible);
        it = s.waiters.erase(it);
    }
}

void GpuHost::move_bytes(GpuStream& s, GpuWork& work, SimTime visible) {
    if (mover_ == nullptr) return;
    if (work.kind == GpuWorkKind::Copy) {
        for (uint64_t row = 0; row < work.rows; ++row)
            mover_->dma_write(work.payload, row * work.bytes, work.bytes, work.to.space,
                              work.to.at + row * work.to_pitch, visible);
    } else {
        std::vector<uint8_t> bytes(std::min(work.bytes, kPatternPiece));
        for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = work.pattern[i % work.pattern.size()];
        work.payload = mover_->open_bytes(bytes);
        mover_->retain(work.payload);  // written more than once
        for (uint64_t row = 0; row < work.rows; ++row)
            for (uint64_t done = 0; done < work.bytes; done += bytes.size())
                mover_->dma_write(work.payload, 0, std::min<uint64_t>(bytes.size(), work.bytes - done), work.to.space,
                                  work.to.at + row * work.to_pitch + done, visible);
        mover_->release(work.payload);
    }
    drop_payload(work);
    Client* client = work.to.is_host ? lab_->client_of_process(s.process) : nullptr;
    if (client == nullptr) return;
    if (client->deliveries.push_written(visible, false, lab_->engine().frontier() - lab_->down_latency()))
        lab_->note_delivery();
}

void GpuHost::drop_payload(GpuWork& work) {
    if (work.payload != wire::kNoStream && mover_ != nullptr) mover_->release(work.payload);
    work.payload = wire::kNoStream;
}

void GpuHost::tell(uint32_t process, SimTime visible) {
    Client* client = lab_->client_of_process(process);
    if (client == nullptr || client->gpus == nullptr) return;
    Delivery delivery;
    delivery.kind = DeliveryKind::GpuProgress;
    delivery.fd_key = client->gpus->key;
    delivery.stamp = visible;
    delivery.device = UINT32_MAX;  // behind the adapters' at the same time
    delivery.ordinal = ++ordinal_;
    client->deliveries.push(delivery);
    lab_->note_delivery();
}

void GpuHost::tell_at(Client& client, const GpuPoint& point, SimTime now) {
    if (point.stream->done >= point.count || point.stream->ended)
        return tell(client.process, std::max(point.stream->visible, now));
    uint64_t& count = point.stream->waiters[client.process];
    // Several threads may wait: the first point is told, who wants the second asks again.
    count = count == 0 ? point.count : std::min(count, point.count);
}

void GpuHost::client_gone(Client& client) {
    for (auto& [number, stream] : streams_) {
        stream->waiters.erase(client.process);
        if (stream->process != client.process) continue;
        stream->ended = true;
        for (GpuWork& work : stream->works) drop_payload(work);
        stream->works.clear();
        stream->started = 0;
    }
    std::erase_if(copies_, [](const auto& entry) { return entry.second.stream->ended; });
    std::erase_if(timers_, [](const auto& entry) { return entry.second->ended; });
    std::erase_if(exported, [&](const auto& entry) { return entry.second.process == client.process; });
    std::erase_if(dma_bufs, [&](const auto& entry) { return entry.second.process == client.process; });
    client.gpus.reset();
    if (mover_ != nullptr) pump(lab_->engine().frontier());  // others may have waited for its streams
}

SimTime GpuHost::next_event_time() const {
    return timers_.empty() ? SimTime::max() : std::max(timers_.begin()->first, engine().frontier());
}

void GpuHost::run_window(SimTime end) {
    in_window_ = true;
    while (!timers_.empty() && timers_.begin()->first < end) {
        const auto timer = *timers_.begin();
        timers_.erase(timers_.begin());
        finish(*timer.second, timer.first);
        pump(timer.first);
    }
    in_window_ = false;
    if (!timers_.empty()) engine().wake(id(), timers_.begin()->first);
}

}  // namespace simverbs::server
