// Files, ids and events of rdma_cm.
#include "verbs_shim/server/cm/rdma_cm.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "verbs_shim/server/control.hpp"
#include "verbs_shim/server/lab.hpp"
#include "verbs_shim/server/shared_objects.hpp"

namespace simverbs::server {

namespace {

/// From an event of the CM to a program that sleeps in read or poll.
constexpr sim::SimTime kEventTime = sim::SimTime::us(3);

}  // namespace

void RdmaCm::attach() {
    hosts_.resize(lab_->hosts().size());
    for (uint32_t h = 0; h < hosts_.size(); ++h) {
        for (const Nic& nic : lab_->hosts()[h].nics) {
            hosts_[h].agents.push_back(std::make_unique<cm::Agent>(*nic.hca, *this));
            host_of_agent_[hosts_[h].agents.back().get()] = h;
            for (const hca::HcaPortConfig& port : nic.hca->config().ports) host_of_leaf_[port.leaf] = h;
        }
    }
}

RdmaCm::Opened RdmaCm::open(Client& client) {
    Opened opened;
    NewEventFd made = make_event_fd(*lab_, client);
    if (made.error != 0) {
        opened.error = made.error;
        return opened;
    }
    CmFile file;
    file.ready = std::move(made.server_end);
    // The program's end has flags of its own: this one never blocks.
    file.read_end = UniqueFd(
        ::open(fmt::format("/proc/self/fd/{}", made.process_end.get()).c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    if (!file.read_end.valid()) {
        opened.error = EMFILE;
        return opened;
    }
    opened.key = file.ready.key;
    opened.file = static_cast<uint32_t>(file.ready.key);  // unique in the lab: a forked child cannot name it
    opened.process_end = std::move(made.process_end);
    state_of(client).files.emplace(opened.file, std::move(file));
    return opened;
}

CmFile* RdmaCm::file_of(const Client& client, uint32_t file) {
    CmState& state = state_of(client);
    const auto it = state.files.find(file);
    return it == state.files.end() ? nullptr : &it->second;
}

void RdmaCm::close(Client& client, uint32_t file, sim::SimTime now) {
    CmState& state = state_of(client);
    if (!state.files.contains(file)) return;
    std::vector<uint32_t> gone;
    for (const auto& [handle, id] : state.ids)
        if (id.file == file) gone.push_back(handle);
    for (const uint32_t handle : gone) destroy_id(client, handle, now);
    state.files.erase(file);
}

void RdmaCm::client_gone(Client& client, sim::SimTime now) {
    const auto it = states_.find(client.process);
    if (it == states_.end()) return;
    std::vector<uint32_t> gone;
    for (const auto& [handle, id] : it->second.ids) gone.push_back(handle);
    for (const uint32_t handle : gone) destroy_id(client, handle, now);
    states_.erase(client.process);
}

RdmaCm::Found RdmaCm::find(Ref ref) {
    Found found;
    const auto state = states_.find(ref.process);
    if (state == states_.end()) return found;
    const auto id = state->second.ids.find(ref.id);
    if (id == state->second.ids.end()) return found;
    found.client = lab_->client_of_process(ref.process);
    if (found.client != nullptr) found.id = &id->second;
    return found;
}

int RdmaCm::find(Command& c, uint32_t handle, CmId*& id) {
    CmState& state = state_of(c.client);
    const auto it = state.ids.find(handle);
    if (it == state.ids.end()) return ENOENT;
    if (it->second.file != c.file) return EINVAL;
    id = &it->second;
    return 0;
}

RdmaCm::HostState& RdmaCm::host_of(const Client& client) {
    return hosts_[client.host];
}

cm::Agent* RdmaCm::agent_of(const Client& client, const CmId& id) {
    HostState& host = host_of(client);
    if (host.agents.empty()) return nullptr;
    return host.agents[id.nic < 0 ? 0 : static_cast<size_t>(id.nic)].get();
}

CmId* RdmaCm::make_id(Client& client, uint32_t file, uint64_t uid, cm::PortSpace space, hca::QpType type) {
    CmState& state = state_of(client);
    constexpr size_t kMost = 1U << 16;
    if (state.ids.size() >= kMost) return nullptr;
    CmId id;
    id.handle = ++last_id_;
    id.file = file;
    id.uid = uid;
    id.space = space;
    id.qp_type = type;
    if (space == cm::PortSpace::Udp) id.qkey = kUdpQkey;
    return &(state.ids[id.handle] = std::move(id));
}

void RdmaCm::bind_connection(Client& client, CmId& id, cm::Agent& agent, cm::CommId conn) {
    id.conn = conn;
    connections_[{&agent, conn}] = {client.process, id.handle};
}

void RdmaCm::destroy_id(Client& client, uint32_t handle, sim::SimTime now) {
    CmState& state = state_of(client);
    const auto it = state.ids.find(handle);
    if (it == state.ids.end()) return;
    CmId& id = it->second;
    if (id.state == IdState::Listen) set_listening(client, id, false, now);
    give_port_back(client, id);
    if (cm::Agent* agent = agent_of(client, id); agent != nullptr && id.conn != 0) {
        connections_.erase({agent, id.conn});
        agent->destroy(id.conn, now);
    }
    std::vector<uint32_t> requests;  // connection requests that nobody will take any more
    const auto is_his = [&](const CmEvent& event) {
        if (event.id != handle) return false;
        if (event.new_id != 0) requests.push_back(event.new_id);
        return true;
    };
    if (CmFile* file = file_of(client, id.file); file != nullptr) {
        const bool some = !file->queue.empty();
        std::erase_if(file->queue, is_his);
        if (some && file->queue.empty()) set_empty(*file);
    }
    for (auto& [ticket, event] : on_the_way_) (void)is_his(event);
    std::erase_if(timers_, [&](const auto& entry) { return entry.second.ref == Ref{client.process, handle}; });
    state.ids.erase(it);
    for (const uint32_t request : requests) destroy_id(client, request, now);
}

void RdmaCm::post(Client& client, CmEvent event, sim::SimTime at) {
    const CmState& state = state_of(client);
    const auto id = state.ids.find(event.id);
    if (id == state.ids.end()) return;
    // Until the program has accepted it, a new connection has no name that it would know.
    if (id->second.uid == 0 && event.response.event != kConnectRequest) return;
    if (event.multicast == 0) event.response.uid = id->second.uid;
    const CmFile* file = file_of(client, id->second.file);
    if (file == nullptr) return;
    Delivery d;
    d.kind = DeliveryKind::CmEvent;
    d.stamp = at + kEventTime;
    d.device = protocol::kMaxDevicesPerHost;  // behind what the adapters say at the same time
    d.ordinal = d.object = ++last_ticket_;
    d.fd_key = file->ready.key;
    on_the_way_[last_ticket_] = event;
    client.deliveries.push(d);
    lab_->note_delivery();
}

void RdmaCm::post(Client& client, const CmId& id, uint32_t event, int status, sim::SimTime at) {
    CmEvent e;
    e.id = id.handle;
    e.response.id = id.handle;
    e.response.event = event;
    e.response.status = static_cast<uint32_t>(status);
    post(client, e, at);
}

void RdmaCm::deliver(Client& client, uint32_t ticket, int64_t stamp_ps) {
    const auto it = on_the_way_.find(ticket);
    if (it == on_the_way_.end()) return;
    const CmEvent event = it->second;
    on_the_way_.erase(it);
    const CmState& state = state_of(client);
    const auto id = state.ids.find(event.id);
    CmFile* file = id == state.ids.end() ? nullptr : file_of(client, id->second.file);
    if (file == nullptr) return;  // destroyed meanwhile
    file->queue.push_back(event);
    set_ready(*file, stamp_ps);
}

void RdmaCm::set_ready(CmFile& file, int64_t stamp_ps) {
    constexpr protocol::ChannelEvent kToken{};
    if (file.queue.size() == 1) (void)!::write(file.ready.write_end.get(), &kToken, sizeof kToken);
    bump_object(lab_->shared(), file.ready.key, stamp_ps);
}

void RdmaCm::set_empty(CmFile& file) {
    protocol::ChannelEvent token;
    (void)!::read(file.read_end.get(), &token, sizeof token);
}

uint64_t RdmaCm::set_timer(Client& client, const CmId& id, TimerKind kind, sim::SimTime at, uint32_t multicast) {
    cm::Agent* agent = agent_of(client, id);
    if (agent == nullptr) return 0;
    timers_[++last_timer_] = {kind, {client.process, id.handle}, multicast};
    agent->set_timer(last_timer_, at);
    return last_timer_;
}

}  // namespace simverbs::server
