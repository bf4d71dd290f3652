#include "verbs_shim/client/net/stream_keys.hpp"

#include <cstring>

#include "verbs_shim/client/net/lab.hpp"
#include "verbs_shim/client/net/socket_calls.hpp"

namespace simverbs::client::net {

using protocol::object_key;
using protocol::ObjectKind;

uint64_t stream_key(ObjectKind kind, const Endpoint& from, const Endpoint& to) noexcept {
    // 12 bits of host and 16 of port on either side fill the 56 bits exactly: labs have at most kMaxHosts hosts.
    return object_key(kind, (uint64_t{from.address & 0xFFF} << 44) | (uint64_t{from.port} << 28) |
                                (uint64_t{to.address & 0xFFF} << 16) | to.port);
}

uint64_t port_key(ObjectKind kind, const Endpoint& at) noexcept {
    return object_key(kind, (uint64_t{at.address & 0xFFFF} << 16) | at.port);
}

uint64_t inode_key(dev_t device, ino_t inode) noexcept {
    return object_key(ObjectKind::Inode, (static_cast<uint64_t>(device) * 0x9E3779B97F4A7C15ULL) ^ inode);
}

void set_stream_keys(Description& d) noexcept {
    d.kind = FdKind::TcpStream;
    d.read_key = stream_key(ObjectKind::TcpStream, d.peer, d.local);
    d.write_key = stream_key(ObjectKind::TcpStream, d.local, d.peer);
    d.read_consumed_key = stream_key(ObjectKind::TcpConsumed, d.peer, d.local);
    d.write_consumed_key = stream_key(ObjectKind::TcpConsumed, d.local, d.peer);
}

void complete_from_kernel(int fd, Description& d) noexcept {
    protocol::LabShared* page = lab();
    if (page == nullptr) return;
    sockaddr_storage a{};
    socklen_t size = sizeof a;
    if (real::getsockname(fd, reinterpret_cast<sockaddr*>(&a), &size) == 0) {
        if (const auto e = lab_endpoint_of_under(reinterpret_cast<sockaddr*>(&a), size, page->lab_block)) d.local = *e;
    }
    size = sizeof a;
    if (d.kind == FdKind::TcpNew && real::getpeername(fd, reinterpret_cast<sockaddr*>(&a), &size) == 0) {
        const auto e = lab_endpoint_of_under(reinterpret_cast<sockaddr*>(&a), size, page->lab_block);
        if (e && d.local.address != 0) {
            d.peer = *e;
            set_stream_keys(d);
        } else {
            d.kind = FdKind::External;
        }
    }
    if (d.kind == FdKind::TcpListener && d.local.port != 0) d.read_key = port_key(ObjectKind::Listener, d.local);
    if (d.kind == FdKind::Udp && d.local.port != 0) d.read_key = port_key(ObjectKind::Datagram, d.local);
}

}  // namespace simverbs::client::net
