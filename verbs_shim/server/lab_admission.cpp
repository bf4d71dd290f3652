// The control socket: who connects, who is let in, how requests are read and answered.
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "verbs_shim/server/control.hpp"
#include "verbs_shim/server/lab.hpp"
#include "verbs_shim/server/numa_placement.hpp"
#include "verbs_shim/server/sysfs_tree.hpp"

namespace simverbs::server {

using protocol::Turn;

namespace {

constexpr int kMaxFds = 4;
/// A program says hello at once: who has connected and is silent while so many others come, has nothing to say.
constexpr size_t kMostVisitors = 256;

/// Sends one message with descriptors. False if the other side cannot take it.
bool send_message(int socket, std::span<const uint8_t> bytes, std::span<const int> fds) {
    iovec part{const_cast<uint8_t*>(bytes.data()), bytes.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kMaxFds)] = {};
    if (!fds.empty()) {
        message.msg_control = control;
        message.msg_controllen = CMSG_SPACE(sizeof(int) * fds.size());
        cmsghdr* header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int) * fds.size());
        std::memcpy(CMSG_DATA(header), fds.data(), sizeof(int) * fds.size());
    }
    return ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == static_cast<ssize_t>(bytes.size());
}

template <class T>
std::span<const uint8_t> bytes_of(const T& value) {
    return {reinterpret_cast<const uint8_t*>(&value), sizeof value};
}

/// Who is at the other end; 0 unless it is a process of this user.
pid_t trusted_peer(int socket) {
    ucred peer{};
    socklen_t length = sizeof peer;
    if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return 0;
    return peer.uid == ::geteuid() || ::geteuid() == 0 ? peer.pid : 0;
}

}  // namespace

void Lab::open_socket() {
    socket_path_ = block_.folder() + "/control";
    listener_ = UniqueFd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (socket_path_.size() >= sizeof address.sun_path)
        throw std::runtime_error(fmt::format("the path {} is too long for a socket", socket_path_));
    std::memcpy(address.sun_path, socket_path_.c_str(), socket_path_.size() + 1);
    if (!listener_.valid() ||
        ::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(listener_.get(), 256) != 0)
        throw std::runtime_error(fmt::format("cannot listen on {}: {}", socket_path_, std::strerror(errno)));
    poller_.add(listener_.get(), EPOLLIN, [this](uint32_t) { accept_connection(); });
}

void Lab::accept_connection() {
    UniqueFd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    // Without a descriptor left, the oldest of the silent ones gives up its own; the connection still waits.
    if (!fd.valid() && (errno == EMFILE || errno == ENFILE)) make_room_for_visitors(0);
    if (!fd.valid()) return;
    const pid_t pid = trusted_peer(fd.get());
    if (pid == 0) return;
    if (visitors_.size() >= kMostVisitors) make_room_for_visitors(pid);
    const int number = fd.get();
    visitors_[number] = std::move(fd);
    visitors_in_order_.push_back(number);
    poller_.add(number, EPOLLIN | EPOLLRDHUP, [this, number](uint32_t events) { on_visitor(number, events); });
}

void Lab::show_out(int fd) {
    poller_.remove(fd);
    visitors_.erase(fd);
    std::erase(visitors_in_order_, fd);
}

void Lab::make_room_for_visitors(pid_t pid) {
    if (visitors_in_order_.empty()) return;
    const int oldest = visitors_in_order_.front();
    if (!std::exchange(told_of_visitors_, true)) {
        const pid_t silent = trusted_peer(oldest);
        observer_->on_note(
            fmt::format("pid {} (the last one: pid {}): connections to the lab's socket without a hello; the "
                        "oldest of more than {} are closed",
                        silent, pid == 0 ? silent : pid, kMostVisitors));
    }
    show_out(oldest);
}

void Lab::on_visitor(int fd, uint32_t events) {
    protocol::HelloRequest hello;
    const ssize_t n = (events & EPOLLIN) != 0 ? ::recv(fd, &hello, sizeof hello, MSG_DONTWAIT | MSG_TRUNC) : 0;
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    UniqueFd connection = std::move(visitors_.find(fd)->second);
    show_out(fd);
    const auto size = static_cast<size_t>(n < 0 ? 0 : n);
    if (size < sizeof(protocol::RequestHeader) || hello.h.magic != protocol::kMagic ||
        hello.h.op != protocol::Op::Hello)
        return;
    // Whatever version speaks there, it gets a reply that says EPROTO.
    if (size != sizeof hello || hello.version != protocol::kProtocolVersion ||
        hello.layout_hash != protocol::layout_hash()) {
        if (!std::exchange(told_of_versions_, true)) {
            observer_->on_note(
                fmt::format("pid {} speaks another version of simverbs' protocol: its preload library is of another "
                            "version; it is told so, as all others of its kind are",
                            trusted_peer(connection.get())));
        }
        refuse(connection.get(), hello, EPROTO);
        return;
    }
    admit(std::move(connection), hello, trusted_peer(fd));
}

void Lab::refuse(int fd, const protocol::HelloRequest& hello, int error) {
    protocol::HelloReply reply{};
    reply.h.error = error;
    reply.h.sequence = hello.h.sequence;
    reply.h.bytes = sizeof reply;
    (void)send_message(fd, bytes_of(reply), {});
}

/// Where the newcomer belongs: a reserved slot, the slot of its own earlier image, or a new one.
int Lab::choose_place(const protocol::HelloRequest& hello, pid_t pid, Place& place) {
    protocol::LabShared& page = *page_;
    const std::string name = bounded(hello.host);
    const auto named = std::find_if(hosts_.begin(), hosts_.end(), [&](const Host& h) { return h.name == name; });
    const auto state_of = [&](uint32_t slot) { return static_cast<Turn>(page.slots[slot].turn.load()); };
    // The same process again: exec. Its other threads are gone.
    for (uint32_t i = 0; i < roster_.num_slots; ++i) {
        const uint32_t process = roster_.process_of_slot[i];
        const Roster::Process& kept = roster_.processes[process];
        if (state_of(i) == Turn::Free || state_of(i) == Turn::Gone || kept.pid != pid || !kept.used) continue;
        if (place.slot == kNone) {
            place = {kept.host, process, i};
            ++roster_.tenants_of_slot[i];
        } else {
            free_slot(i);
        }
    }
    if (place.slot != kNone) {
        // The new image may belong to another host: `simverbs on` by a program of the lab.
        if (named == hosts_.end()) return ENOENT;
        place.host = static_cast<uint32_t>(named - hosts_.begin());
        roster_.processes[place.process].host = page.processes[place.process].host = place.host;
        return 0;
    }
    if (hello.slot < roster_.num_slots && state_of(hello.slot) == Turn::Reserved) {
        const uint32_t process = roster_.process_of_slot[hello.slot];
        if (roster_.processes[process].used && roster_.processes[process].pid == 0) {
            place = {roster_.processes[process].host, process, hello.slot};
            return 0;
        }
    }
    // Somebody who was not announced: a new terminal of an `up` lab, or a child made behind the shim's back.
    if (named == hosts_.end()) return ENOENT;
    place.host = static_cast<uint32_t>(named - hosts_.begin());
    place.process = reserve_process(place.host, hello.program);
    if (place.process == kNone) return EAGAIN;
    place.slot = reserve_slot(place.process, engine_->frontier().in_ps());
    if (place.slot != kNone) return 0;
    roster_.processes[place.process].used = false;
    page.processes[place.process].used.store(0);
    return EAGAIN;
}

/// Made for the first program on a host: a lab may have thousands of hosts. 0, or why it cannot be made.
int Lab::provide_sysfs(Host& host) {
    if (host.has_sysfs) return 0;
    try {
        make_sysfs_tree(host);
    } catch (const std::system_error& e) {
        if (!sysfs_failed_) {
            observer_->on_note(
                fmt::format("{}: {}; make room there, or set XDG_RUNTIME_DIR to another folder", host.name, e.what()));
        }
        sysfs_failed_ = true;
        return e.code().value();
    }
    host.has_sysfs = true;
    return 0;
}

void Lab::refresh_sysfs(uint32_t host, uint32_t nic, uint8_t port) {
    if (!hosts_[host].has_sysfs) return;
    try {
        update_sysfs_port(hosts_[host], nic, port);
    } catch (const std::system_error& e) {
        observer_->on_note(fmt::format("{}: {}", hosts_[host].name, e.what()));
    }
}

void Lab::admit(UniqueFd connection, const protocol::HelloRequest& hello, pid_t pid) {
    Place place;
    if (pid == 0) return;
    if (const int error = choose_place(hello, pid, place); error != 0) return refuse(connection.get(), hello, error);
    if (const int error = provide_sysfs(hosts_[place.host]); error != 0) return refuse(connection.get(), hello, error);
    remove_client(place.process);  // of an earlier image
    protocol::ProcessEntry& entry = page_->processes[place.process];
    auto client = std::make_unique<Client>();
    client->pid = pid;
    client->process = place.process;
    client->host = place.host;
    client->program = roster_.processes[place.process].program;
    client->command = printable(bounded(hello.command));
    client->space = ++last_space_;
    client->arena = std::make_unique<Arena>();
    if (const auto& gpus = hosts_[place.host].gpus; gpus != nullptr) {
        const NumaPlacement numa = numa_placement_of(pid, gpus->config().numa_nodes);
        client->cpu_node = numa.cpu;
        client->memory_node = numa.memory;
    }
    client->socket = std::move(connection);
    entry.pid = roster_.processes[place.process].pid = pid;
    entry.exposed.store(0);
    entry.dma_writable.store(0);
    process_of_space_[client->space] = place.process;
    memory_.add_space(client->space, pid);
    watch_process(place.process, pid);

    protocol::HelloReply reply{};
    reply.h.sequence = hello.h.sequence;
    reply.h.bytes = sizeof reply;
    reply.h.num_fds = 2;
    fill_hello(*client, place.slot, reply);
    const int socket = client->socket.get();
    const uint32_t process = place.process;
    const int fds[] = {page_.fd(), client->arena->fd()};
    clients_[process] = std::move(client);
    ++membership_epoch_;
    // Requests are read when it is their thread's move (virtual clock) or at once (wall clock).
    const uint32_t events = virtual_clock() ? uint32_t{EPOLLRDHUP} : uint32_t{EPOLLIN | EPOLLRDHUP};
    poller_.add(socket, events, [this, process](uint32_t happened) {
        Client* c = client_of_process(process);
        if (c == nullptr) return;
        if ((happened & EPOLLIN) != 0 && !virtual_clock() && serve_request(*c, engine_->frontier()) >= 0) return;
        // It ends or becomes another program; its objects go when the one or the other has a time (virtual clock).
        if ((happened & (EPOLLRDHUP | EPOLLHUP)) == 0) return;
        if (virtual_clock()) {
            poller_.remove(c->socket.get());
        } else {
            remove_client(process);
        }
    });
    if (!send_message(socket, bytes_of(reply), fds)) remove_client(process);
}

void Lab::fill_hello(const Client& client, uint32_t slot, protocol::HelloReply& reply) const {
    const Host& host = hosts_[client.host];
    reply.process = client.process;
    reply.slot = slot;
    reply.host = client.host;
    reply.explain = config_.explain ? 1 : 0;
    reply.num_devices = static_cast<uint32_t>(host.nics.size());
    std::memcpy(reply.sysfs_root, host.sysfs_root.data(),
                std::min(host.sysfs_root.size(), sizeof reply.sysfs_root - 1));
    for (size_t i = 0; i < host.nics.size(); ++i) {
        const Nic& nic = host.nics[i];
        const hca::DeviceProfile& profile = nic.hca->profile();
        protocol::DeviceInfo& info = reply.devices[i];
        std::memcpy(info.name, nic.config.device.data(), std::min(nic.config.device.size(), sizeof info.name - 1));
        std::memcpy(info.netdev, nic.config.netdev.data(), std::min(nic.config.netdev.size(), sizeof info.netdev - 1));
        info.node_guid = htobe64(nic.hca->query_device().node_guid);
        info.num_ports = static_cast<uint32_t>(nic.hca->config().ports.size());
        info.link_layer = static_cast<uint32_t>(nic.hca->config().ports.front().link_layer);
        info.vendor_id = nic.hca->query_device().vendor_id;
        info.vendor_part_id = nic.hca->query_device().vendor_part_id;
        info.post_send_ps = profile.cpu.post_send.in_ps();
        info.post_wr_ps = profile.cpu.post_send_more.in_ps();
        info.post_recv_ps = profile.cpu.post_recv.in_ps();
        info.poll_cq_ps = profile.cpu.poll_cqe.in_ps();
        info.poll_empty_ps = profile.cpu.poll_empty.in_ps();
        info.inline_byte_ps = profile.cpu.inline_per_64b.in_ps() / 64;
        info.control_ps = profile.cpu.control.in_ps();
        info.memory_poll_ps = profile.cpu.memory_poll.in_ps();
        info.down_latency_ps = nic.hca->downward_latency().in_ps();
    }
}

namespace {

uint32_t slot_of(std::span<const uint8_t> message) {
    protocol::RequestHeader header;
    if (message.size() < sizeof header) return Lab::kNone;
    std::memcpy(&header, message.data(), sizeof header);
    return header.slot;
}

/// Takes the request of `slot` (kNone: of anybody) out of the client's socket. What other threads have sent before
/// waits for their moves. Where no request says that it is the slot's, the oldest is taken: whoever lies is answered,
/// too.
bool take_request(Client& client, uint32_t slot, std::vector<uint8_t>& message) {
    std::deque<std::vector<uint8_t>>& early = client.early_requests;
    const auto is_wanted = [slot](const std::vector<uint8_t>& m) { return slot == Lab::kNone || slot_of(m) == slot; };
    while (std::ranges::none_of(early, is_wanted) && early.size() < protocol::kMaxThreads) {
        alignas(8) uint8_t buffer[protocol::kMaxMessage];
        const ssize_t n = ::recv(client.socket.get(), buffer, sizeof buffer, MSG_DONTWAIT | MSG_TRUNC);
        if (n <= 0) break;
        early.emplace_back(buffer, buffer + std::min(static_cast<size_t>(n), sizeof buffer));
    }
    if (early.empty()) return false;
    auto found = std::ranges::find_if(early, is_wanted);
    if (found == early.end()) found = early.begin();
    message = std::move(*found);
    early.erase(found);
    return true;
}

}  // namespace

int64_t Lab::serve_request(Client& client, sim::SimTime now, uint32_t slot) {
    std::vector<uint8_t> message;
    if (!take_request(client, slot, message)) return -1;
    ControlReply reply = handle_request(*this, client, message, now);
    std::vector<int> fds;
    for (const UniqueFd& fd : reply.fds) fds.push_back(fd.get());
    if (reply.hang_up || !send_message(client.socket.get(), reply.bytes, fds)) {
        observer_->on_note(fmt::format("{}: {} (pid {}): disconnected: it does not follow the control protocol",
                                       hosts_[client.host].name, client.command, client.pid));
        remove_client(client.process);
        return 0;
    }
    return reply.cost_ps;
}

}  // namespace simverbs::server
