// Copies, fills, streams, events, host functions.
#include <algorithm>

#include "verbs_shim/server/gpu/gpu_calls.hpp"
#include "verbs_shim/server/shared_objects.hpp"

namespace simverbs::server {

using namespace protocol;

namespace {

constexpr uint64_t kMostRows = uint64_t{1} << 14;  ///< of one request; the client makes several of larger ones
constexpr size_t kMostObjects = size_t{1} << 16;   ///< streams or events of a program
constexpr size_t kMostWaiting = size_t{1} << 16;   ///< works of a stream

std::shared_ptr<GpuStream> stream_of(GpuRequestScope& s) {
    return s.host.stream(s.call.client, s.request.gpu, s.request.stream, s.request.h.slot);
}

std::shared_ptr<GpuEvent> event_of(GpuRequestScope& s, uint64_t handle) {
    const auto it = s.client.events.find(handle);
    return it == s.client.events.end() ? nullptr : it->second;
}

/// Bytes from the first to the last of `rows` rows; 0 if they do not fit into an address space.
uint64_t span_of(uint64_t bytes, uint64_t rows, uint64_t pitch) {
    uint64_t span = 0;
    if (rows == 0 || __builtin_mul_overflow(rows - 1, pitch, &span) || __builtin_add_overflow(span, bytes, &span))
        return 0;
    return span;
}

/// Where the program's [address, address + span) is: in one allocation of a GPU, or in host memory.
bool find_place(GpuRequestScope& s, uint64_t address, uint64_t span, GpuPlace& place) {
    uint64_t end = 0;
    if (span == 0 || __builtin_add_overflow(address, span, &end)) return false;
    if (const GpuAllocation* a = s.client.find(address, span)) {
        place.space = s.host.memory(a->gpu).space();
        place.memory = s.host.memory_id(a->gpu);
        place.at = address - s.client.parts[a->gpu].base;
        place.holder = a->block;
        return true;
    }
    if (gpu_of_address(s.client, s.host, address) != kNoItem || gpu_of_address(s.client, s.host, end - 1) != kNoItem)
        return false;
    place.space = s.call.client.space;
    place.memory = s.call.client.memory_node;
    place.at = address;
    place.is_host = true;
    const auto it = s.client.registration_at(address);
    place.pinned = it != s.client.registered.end() && end - it->first <= it->second.first;
    return true;
}

/// Which engine: into a GPU, out of it, to another one; 0: none, it is done otherwise.
uint8_t engine_of(const GpuPlace& from, const GpuPlace& to) {
    if (from.is_host) return to.is_host ? 0 : 1;
    if (to.is_host) return 2;
    return from.memory == to.memory ? 0 : 3;
}

int explain_range(GpuRequestScope& s, uint64_t address, const char* what) {
    if (gpu_of_address(s.client, s.host, address) != kNoItem)
        s.call.lab.explain(s.call.client,
                           std::string(what) + ": the range is not inside of one allocation of GPU memory.");
    return kGpuInvalidValue;
}

/// The reply says that the caller must wait for the point, unless software knows already that it is reached.
void wait_for(GpuRequestScope& s, const GpuPoint& point) {
    const GpuStream& stream = *point.stream;
    if (stream.ended || (stream.done >= point.count && stream.visible <= s.call.now)) return;
    s.host.tell_at(s.call.client, point, s.call.now);
    const SharedObject* object = find_object(s.call.lab.shared(), s.client.key);
    s.reply.key = s.client.key;
    s.reply.seen = object == nullptr ? 0 : object->value.load(std::memory_order_acquire);
    s.reply.value = point.count;
}

bool is_full(const GpuStream& stream) {
    return stream.works.size() >= kMostWaiting;
}

}  // namespace

int gpu_copy(GpuRequestScope& s) {
    const GpuRequest& r = s.request;
    const auto stream = stream_of(s);
    if (stream == nullptr) return kGpuInvalidHandle;
    if (r.bytes == 0 || r.rows == 0) return kGpuSuccess;
    if (r.rows > kMostRows || is_full(*stream)) return kGpuInvalidValue;
    if (r.rows > 1 && (r.from_pitch < r.bytes || r.to_pitch < r.bytes)) return kGpuInvalidValue;
    GpuWork work;
    work.kind = GpuWorkKind::Copy;
    if (!find_place(s, r.from, span_of(r.bytes, r.rows, r.from_pitch), work.from))
        return explain_range(s, r.from, "the source of a copy");
    if (!find_place(s, r.to, span_of(r.bytes, r.rows, r.to_pitch), work.to))
        return explain_range(s, r.to, "the target of a copy");
    work.bytes = r.bytes;
    work.rows = r.rows;
    work.from_pitch = r.from_pitch;
    work.to_pitch = r.to_pitch;
    if (r.rows > 1 && r.from_pitch == r.bytes && r.to_pitch == r.bytes) {
        work.bytes *= r.rows;
        work.rows = 1;
    }
    work.engine = engine_of(work.from, work.to);
    // What is not pinned is copied into the driver's buffers before the call returns, or after the copy.
    const bool pageable_source = work.from.is_host && !work.from.pinned;
    const bool pageable_target = work.to.is_host && !work.to.pinned;
    if (pageable_source) s.host.read_source(work);
    const bool touches_host = work.from.is_host || work.to.is_host;
    const bool waits = touches_host && ((r.flags & kGpuCopySync) != 0 || pageable_target);
    s.host.submit(s.call.client, stream, std::move(work), s.call.now);
    if (!waits) return kGpuSuccess;
    s.call.cost_ps = 0;  // until its end: HostComplex::submit has it all
    wait_for(s, {stream, stream->submitted});
    return kGpuSuccess;
}

int gpu_fill(GpuRequestScope& s) {
    const GpuRequest& r = s.request;
    const auto stream = stream_of(s);
    if (stream == nullptr) return kGpuInvalidHandle;
    if (r.bytes == 0 || r.rows == 0) return kGpuSuccess;
    const bool size_ok = r.flags == 1 || r.flags == 2 || r.flags == 4;
    if (!size_ok || r.bytes % r.flags != 0 || r.rows > kMostRows || is_full(*stream)) return kGpuInvalidValue;
    if (r.rows > 1 && r.to_pitch < r.bytes) return kGpuInvalidValue;
    GpuWork work;
    work.kind = GpuWorkKind::Fill;
    if (!find_place(s, r.to, span_of(r.bytes, r.rows, r.to_pitch), work.to))
        return explain_range(s, r.to, "cudaMemset");
    work.bytes = r.bytes;
    work.rows = r.rows;
    work.to_pitch = r.to_pitch;
    for (uint32_t i = 0; i < r.flags; ++i) work.pattern.push_back(static_cast<uint8_t>(r.value >> (8 * i)));
    s.host.submit(s.call.client, stream, std::move(work), s.call.now);
    return kGpuSuccess;
}

int gpu_stream_create(GpuRequestScope& s) {
    if (s.client.streams.size() >= kMostObjects) return kGpuOutOfMemory;
    const auto stream = s.host.make_stream(s.call.client, s.request.gpu, (s.request.flags & 1) == 0);
    s.client.streams[stream->id] = stream;
    s.reply.handle = stream->id;
    return kGpuSuccess;
}

int gpu_stream_destroy(GpuRequestScope& s) {
    const auto it = s.client.streams.find(s.request.stream);
    if (it == s.client.streams.end()) return kGpuInvalidHandle;
    it->second->released = true;
    s.client.streams.erase(it);
    return kGpuSuccess;
}

int gpu_stream_query(GpuRequestScope& s) {
    const auto stream = stream_of(s);
    if (stream == nullptr) return kGpuInvalidHandle;
    s.reply.gpu = stream->gpu;
    return stream->done < stream->submitted || stream->visible > s.call.now ? kGpuNotReady : kGpuSuccess;
}

int gpu_stream_wait_event(GpuRequestScope& s) {
    const auto stream = stream_of(s);
    const auto event = event_of(s, s.request.handle);
    if (stream == nullptr || event == nullptr) return kGpuInvalidHandle;
    if (is_full(*stream)) return kGpuInvalidValue;
    if (event->point.stream == nullptr) return kGpuSuccess;
    GpuWork work;
    work.after.push_back(event->point);
    s.host.submit(s.call.client, stream, std::move(work), s.call.now);
    return kGpuSuccess;
}

int gpu_wait(GpuRequestScope& s) {
    const GpuRequest& r = s.request;
    if (r.flags != 0) s.call.cost_ps = 0;  // asked again
    if (r.handle != 0) {
        const auto event = event_of(s, r.handle);
        if (event == nullptr) return kGpuInvalidHandle;
        if (event->point.stream != nullptr) wait_for(s, event->point);
        return kGpuSuccess;
    }
    if (r.value == UINT64_MAX) {  // all of the GPU
        for (const auto& [number, stream] : s.host.streams()) {
            if (stream->process != s.call.client.process || stream->gpu != r.gpu) continue;
            wait_for(s, {stream, stream->submitted});
            if (s.reply.key != 0) break;
        }
        s.reply.value = UINT64_MAX;
        return kGpuSuccess;
    }
    const auto stream = stream_of(s);
    if (stream == nullptr) return kGpuInvalidHandle;
    wait_for(s, {stream, r.value == 0 ? stream->submitted : std::min(r.value, stream->submitted)});
    return kGpuSuccess;
}

int gpu_event_create(GpuRequestScope& s) {
    if (s.client.events.size() >= kMostObjects) return kGpuOutOfMemory;
    if ((s.request.flags & kGpuEventInterprocess) != 0 && (s.request.flags & kGpuEventDisableTiming) == 0)
        return kGpuInvalidValue;
    auto event = std::make_shared<GpuEvent>();
    event->gpu = s.request.gpu;
    event->flags = s.request.flags;
    s.reply.handle = ++s.host.last_number;
    s.client.events[s.reply.handle] = std::move(event);
    return kGpuSuccess;
}

int gpu_event_destroy(GpuRequestScope& s) {
    return s.client.events.erase(s.request.handle) != 0 ? kGpuSuccess : kGpuInvalidHandle;
}

int gpu_event_record(GpuRequestScope& s) {
    const auto event = event_of(s, s.request.handle);
    const auto stream = stream_of(s);
    if (event == nullptr || stream == nullptr || event->gpu != stream->gpu) return kGpuInvalidHandle;
    if (is_full(*stream)) return kGpuInvalidValue;
    GpuWork work;
    work.kind = GpuWorkKind::Record;
    work.event = event;
    s.host.submit(s.call.client, stream, std::move(work), s.call.now);
    return kGpuSuccess;
}

int gpu_event_query(GpuRequestScope& s) {
    const auto event = event_of(s, s.request.handle);
    if (event == nullptr) return kGpuInvalidHandle;
    const GpuPoint& point = event->point;
    if (point.stream == nullptr || point.stream->ended) return kGpuSuccess;
    return point.stream->done < point.count || event->visible > s.call.now ? kGpuNotReady : kGpuSuccess;
}

int gpu_event_elapsed(GpuRequestScope& s) {
    const auto begin = event_of(s, s.request.handle), end = event_of(s, s.request.value);
    if (begin == nullptr || end == nullptr) return kGpuInvalidHandle;
    if (((begin->flags | end->flags) & kGpuEventDisableTiming) != 0) return kGpuInvalidHandle;
    for (const GpuEvent* event : {begin.get(), end.get()}) {
        if (event->point.stream == nullptr) return kGpuInvalidHandle;
        if (event->point.stream->done < event->point.count || event->visible > s.call.now) return kGpuNotReady;
    }
    s.reply.time_ps = (end->reached - begin->reached).in_ps();
    return kGpuSuccess;
}

int gpu_host_function(GpuRequestScope& s) {
    const auto stream = stream_of(s);
    if (stream == nullptr) return kGpuInvalidHandle;
    if (is_full(*stream)) return kGpuInvalidValue;
    s.client.looks_at_gpus = true;
    GpuWork work;
    work.kind = GpuWorkKind::HostFunction;
    work.function = s.request.value;
    s.host.submit(s.call.client, stream, std::move(work), s.call.now);
    return kGpuSuccess;
}

int gpu_host_function_take(GpuRequestScope& s) {
    if (!s.client.ready_functions.empty()) {
        s.reply.value = s.client.ready_functions.front();
        s.client.ready_functions.pop_front();
        return kGpuSuccess;
    }
    const SharedObject* object = find_object(s.call.lab.shared(), s.client.key);
    s.reply.key = s.client.key;
    s.reply.seen = object == nullptr ? 0 : object->value.load(std::memory_order_acquire);
    return kGpuNotReady;
}

int gpu_host_function_done(GpuRequestScope& s) {
    const auto it = s.client.running_functions.find(s.request.value);
    if (it == s.client.running_functions.end()) return kGpuInvalidHandle;
    const auto stream = it->second;
    s.client.running_functions.erase(it);
    constexpr uint64_t kMostPs = uint64_t{3600} * 1'000'000'000'000;
    s.host.function_done(stream, s.call.now,
                         sim::SimTime::ps(static_cast<int64_t>(std::min(s.request.bytes, kMostPs))));
    return kGpuSuccess;
}

}  // namespace simverbs::server
