// Who is in the lab: processes and thread slots, how they come and go.
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "verbs_shim/server/cm/rdma_cm.hpp"
#include "verbs_shim/server/futex.hpp"
#include "verbs_shim/server/lab.hpp"
#include "verbs_shim/server/shared_objects.hpp"

namespace simverbs::server {

using protocol::Turn;

uint32_t Lab::reserve_process(uint32_t host, uint32_t program) {
    protocol::LabShared& page = *page_;
    // Round robin: the number of a process that has ended is not given away soon, somebody may still wait for its end.
    for (uint32_t n = 0; n < protocol::kMaxProcesses; ++n) {
        const uint32_t index = (last_process_ + n) % protocol::kMaxProcesses;
        protocol::ProcessEntry& entry = page.processes[index];
        Roster::Process& kept = roster_.processes[index];
        if (kept.used) continue;
        kept = {true, 0, host, program};
        entry.pid = 0;
        entry.host = host;
        entry.program = program;
        entry.exposed.store(0);
        entry.dma_writable.store(0);
        std::fill(std::begin(entry.stats), std::end(entry.stats), uint64_t{0});
        entry.used.store(1);
        last_process_ = index + 1;
        roster_.num_processes = std::max(roster_.num_processes, index + 1);
        page.num_processes.store(roster_.num_processes);
        return index;
    }
    return kNone;
}

uint32_t Lab::reserve_slot(uint32_t process, int64_t clock_ps) {
    protocol::LabShared& page = *page_;
    for (uint32_t i = 0; i < protocol::kMaxThreads; ++i) {
        protocol::ThreadSlot& slot = page.slots[i];
        if (slot.turn.load() != static_cast<uint32_t>(Turn::Free)) continue;
        slot.process = roster_.process_of_slot[i] = process;
        ++roster_.tenants_of_slot[i];
        slot.tid = 0;
        slot.yield = 0;
        slot.clock_ps = clock_ps;
        slot.horizon_ps = clock_ps;
        slot.oldest_post_ps = INT64_MAX;
        slot.woken_by = kNone;
        slot.woken_visible = 0;
        slot.in_shim.store(0);
        slot.probe_request = 0;
        slot.slot_flags.store(0);
        slot.turn.store(static_cast<uint32_t>(Turn::Reserved));
        roster_.num_slots = std::max(roster_.num_slots, i + 1);
        page.num_slots.store(roster_.num_slots);
        ++membership_epoch_;
        return i;
    }
    return kNone;
}

void Lab::free_slot(uint32_t slot) {
    page_->slots[slot].core.store(0);
    page_->slots[slot].turn.store(static_cast<uint32_t>(Turn::Free));
    wake_word(page_->slots[slot].turn);
    ++membership_epoch_;
}

void Lab::remove_client(uint32_t process) {
    const auto it = clients_.find(process);
    if (it == clients_.end()) return;
    Client& client = *it->second;
    const sim::SimTime now = engine_ != nullptr ? engine_->frontier() : sim::SimTime::zero();
    rdma_cm_->client_gone(client, now);
    mover_->settle_all(client.space);
    for (auto& [handle, context] : client.contexts) context.hca->release_all(context.owner, now);
    mover_->space_gone(client.space);
    if (client.gpus != nullptr) hosts_[client.host].gpus->client_gone(client);
    memory_.remove_space(client.space);
    process_of_space_.erase(client.space);
    for (Nic& nic : hosts_[client.host].nics) nic.sink->forget(client);
    if (faults_ != nullptr) faults_->on_client_gone(client);
    const LiveMemory::Counts copies = memory_.counts(client.space);
    LiveMemory::Counts& total = ended_stats_[client.program].copies;
    total.reads += copies.reads;
    total.read_bytes += copies.read_bytes;
    total.writes += copies.writes;
    total.written_bytes += copies.written_bytes;
    if (client.socket.valid()) poller_.remove(client.socket.get());
    clients_.erase(it);
    ++membership_epoch_;
}

void Lab::process_died(uint32_t process, int64_t clock_ps) {
    protocol::LabShared& page = *page_;
    remove_client(process);
    std::erase(dead_, process);
    const auto pidfd = pidfds_.find(process);
    if (pidfd != pidfds_.end()) {
        poller_.remove(pidfd->second.get());
        pidfds_.erase(pidfd);
    }
    protocol::ProcessEntry& entry = page.processes[process];
    Roster::Process& kept = roster_.processes[process];
    if (!kept.used) return;
    EndedStats& ended = ended_stats_[kept.program];
    for (size_t i = 0; i < std::size(ended.stats); ++i) ended.stats[i] += entry.stats[i];
    for (uint32_t i = 0; i < roster_.num_slots; ++i) {
        const protocol::ThreadSlot& slot = page.slots[i];
        if (roster_.process_of_slot[i] == process && slot.turn.load() != static_cast<uint32_t>(Turn::Free))
            free_slot(i);
    }
    kept.used = false;
    kept.pid = 0;
    entry.used.store(0);
    entry.pid = 0;
    end_objects_of(page, process, clock_ps);
    bump_object(page, protocol::object_key(protocol::ObjectKind::Process, process), clock_ps);
    bump_object(page, protocol::object_key(protocol::ObjectKind::HostBusy, kept.host), clock_ps);
    ++membership_epoch_;
}

int64_t Lab::latest_clock(uint32_t process) const {
    int64_t latest = engine_ != nullptr ? engine_->frontier().in_ps() : 0;
    for (uint32_t i = 0; i < roster_.num_slots; ++i) {
        const protocol::ThreadSlot& slot = page_->slots[i];
        if (roster_.process_of_slot[i] == process && slot.turn.load() != static_cast<uint32_t>(Turn::Free))
            latest = std::max(latest, std::min(slot.clock_ps, kLatestClockPs));
    }
    return latest;
}

void Lab::watch_process(uint32_t process, pid_t pid) {
    if (pidfds_.contains(process)) return;
    UniqueFd fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    if (!fd.valid()) {
        // Its hello may be read when it is dead and buried already.
        if (errno == ESRCH) dead_.push_back(process);
        return;
    }
    const int number = fd.get();
    pidfds_[process] = std::move(fd);
    // Only noted: when a death takes effect in simulated time is for the lab's runner to say.
    poller_.add(number, EPOLLIN, [this, process, number](uint32_t) {
        poller_.remove(number);
        dead_.push_back(process);
    });
}

bool Lab::is_dead(uint32_t process) const {
    return std::find(dead_.begin(), dead_.end(), process) != dead_.end();
}

int Lab::pidfd_of(uint32_t process) const {
    const auto it = pidfds_.find(process);
    return it == pidfds_.end() ? -1 : it->second.get();
}

Client& Lab::add_detached_client(uint32_t host) {
    const uint32_t process = reserve_process(host, 0);
    auto client = std::make_unique<Client>();
    client->pid = ::getpid();
    client->process = process;
    client->host = host;
    client->space = ++last_space_;
    client->arena = std::make_unique<Arena>();
    process_of_space_[client->space] = process;
    memory_.add_space(client->space, client->pid);
    Client& made = *client;
    clients_[process] = std::move(client);
    return made;
}

}  // namespace simverbs::server
