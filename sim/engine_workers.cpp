#include "sim/engine_workers.hpp"

#include <algorithm>

#include "sim/check.hpp"
#include "sim/engine_partition.hpp"

namespace simverbs::sim {

Engine::Workers::Workers(unsigned threads) : barrier(threads), published(threads), done_(threads) {
    for (unsigned i = 1; i < threads; ++i) threads_.emplace_back([this, i] { work(i); });
}

Engine::Workers::~Workers() {
    stop_.store(true);
    generation_.fetch_add(1);
    generation_.notify_all();
    for (std::thread& t : threads_) t.join();
}

void Engine::Workers::work(unsigned index) {
    for (uint32_t seen = 0;;) {
        generation_.wait(seen);
        ++seen;
        if (stop_.load()) return;
        (*job_)(index);
        done_.arrive_and_wait();
    }
}

void Engine::Workers::run(const std::function<void(unsigned)>& job) {
    job_ = &job;
    generation_.fetch_add(1);
    generation_.notify_all();
    job(0);
    done_.arrive_and_wait();
}

uint64_t Engine::run_windows(SimTime limit, uint64_t max_windows) {
    SIM_CHECK(!running_);
    start();
    if (limit <= frontier_) return 0;
    struct Running {
        explicit Running(bool& flag) : flag_(flag) { flag_ = true; }
        ~Running() { flag_ = false; }
        bool& flag_;
    };
    const Running running(running_);
    const uint64_t ran =
        config_.threads == 1 ? run_windows_alone(limit, max_windows) : run_windows_threaded(limit, max_windows);
    windows_run_ += ran;
    if (ran < max_windows && limit != SimTime::max() && frontier_ < limit) {
        frontier_ = limit;
        for (const auto& p : partitions_) {
            p->activity.advance_to(limit);
            p->activity.set_earliest(limit);
        }
        flush_trace();
    }
    return ran;
}

uint64_t Engine::run_windows_alone(SimTime limit, uint64_t max_windows) {
    Partition& p = *partitions_.front();
    uint64_t ran = 0;
    for (; ran < max_windows; ++ran) {
        const SimTime bucket = p.activity.next_bucket();
        const SimTime start = std::max(bucket, frontier_);
        if (start >= limit) break;
        const SimTime end = std::min(bucket + window_, limit);
        run_partition(p, bucket, start, end);
        frontier_ = end;
        if (trace_sink_ != nullptr) [[unlikely]]
            flush_trace();
    }
    return ran;
}

void Engine::run_partition(Partition& p, SimTime bucket, SimTime start, SimTime end) {
    Activity& activity = p.activity;
    activity.advance_to(bucket);
    activity.set_window_start(start);
    activity.set_earliest(end);
    p.to_run.clear();
    activity.take_current(p.to_run);
    // Memory is asked for in stages, each of which needs what the one before has brought: the node, its hot memory,
    // what that leads to.
    const size_t count = p.to_run.size();
    const auto fetch_hot = [](const Node& node) {
        const char* at = static_cast<const char*>(node.hot_);
        for (uint32_t n = 0; n < node.hot_count_; ++n, at += node.hot_stride_) {
            __builtin_prefetch(at);
            __builtin_prefetch(at + 64);
        }
    };
    for (size_t i = 0; i < count; ++i) {
        if (i + 3 < count) __builtin_prefetch(nodes_[p.to_run[i + 3]]);
        if (i + 2 < count) fetch_hot(*nodes_[p.to_run[i + 2]]);
        if (i + 1 < count) nodes_[p.to_run[i + 1]]->prefetch();
        nodes_[p.to_run[i]]->run_window(end);
    }
    const SimTime bucket_end = bucket + window_;
    if (end == bucket_end) return;
    // Cut short: what is left of this bucket stays asked for.
    activity.forget_until(bucket_end);
    for (const NodeId n : p.to_run) {
        const SimTime next = nodes_[n]->next_event_time();
        if (next < bucket_end) activity.wake(n, next);
    }
}

void Engine::drain_into(unsigned consumer) {
    for (const auto& producer : partitions_) {
        for (ChannelBase* channel : producer->outbox[consumer]) channel->drain(partitions_[consumer]->activity);
        producer->outbox[consumer].clear();
    }
}

uint64_t Engine::run_windows_threaded(SimTime limit, uint64_t max_windows) {
    if (!workers_) workers_ = std::make_unique<Workers>(config_.threads);
    Workers& w = *workers_;
    w.failure = nullptr;
    uint64_t ran_in_all = 0;
    const std::function<void(unsigned)> job = [&](unsigned me) {
        Partition& p = *partitions_[me];
        SimTime frontier = frontier_;
        bool failed_here = false;
        // Every thread comes to the same decisions from the same published values.
        for (uint64_t ran = 0; ran < max_windows; ++ran) {
            w.published[me] = {p.activity.next_bucket(), failed_here};
            w.barrier.arrive_and_wait();
            SimTime bucket = SimTime::max();
            bool failed = false;
            for (const auto& other : w.published) {
                bucket = std::min(bucket, other.next_bucket);
                failed |= other.failed;
            }
            const SimTime start = std::max(bucket, frontier);
            if (start >= limit || failed) break;
            const SimTime end = std::min(bucket + window_, limit);
            failed_here |= !w.guarded([&] { run_partition(p, bucket, start, end); });
            frontier = end;
            w.barrier.arrive_and_wait();
            failed_here |= !w.guarded([&] { drain_into(me); });
            if (me == 0) {
                frontier_ = end;
                ran_in_all = ran + 1;
                if (trace_sink_ != nullptr) flush_trace();
            }
        }
    };
    w.run(job);
    if (w.failure) std::rethrow_exception(w.failure);
    return ran_in_all;
}

}  // namespace simverbs::sim
