#include "verbs_shim/client/net/interfaces.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <netpacket/packet.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "verbs_shim/client/connection/connection.hpp"
#include "verbs_shim/client/connection/raw_syscall.hpp"
#include "verbs_shim/client/net/lab.hpp"
#include "verbs_shim/client/net/real.hpp"

#include <fcntl.h>

namespace simverbs::client::net {
namespace {

constexpr int kMaxInterfaces = 1 + static_cast<int>(protocol::kMaxDevicesPerHost);

bool read_attribute(const char* interface, const char* attribute, char* out, size_t room) noexcept {
    char path[512];
    std::snprintf(path, sizeof path, "%s/class/net/%s/%s", sysfs_root(), interface, attribute);
    const long fd = raw_syscall(SYS_openat, AT_FDCWD, as_argument(path), O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0) return false;
    const long n = raw_syscall(SYS_read, fd, as_argument(out), static_cast<long>(room - 1));
    raw_syscall(SYS_close, fd);
    out[n > 0 ? n : 0] = '\0';
    return n > 0;
}

void fill_from_tree(Interface& i) noexcept {
    char text[128];
    if (read_attribute(i.name, "ifindex", text, sizeof text))
        i.index = static_cast<unsigned>(std::strtoul(text, nullptr, 10));
    if (read_attribute(i.name, "mtu", text, sizeof text))
        i.mtu = static_cast<unsigned>(std::strtoul(text, nullptr, 10));
    if (read_attribute(i.name, "address", text, sizeof text)) {
        unsigned b[6] = {};
        if (std::sscanf(text, "%x:%x:%x:%x:%x:%x", &b[0], &b[1], &b[2], &b[3], &b[4], &b[5]) == 6)
            for (int k = 0; k < 6; ++k) i.mac[k] = static_cast<uint8_t>(b[k]);
    }
}

bool find_interface(const char* name, unsigned index, Interface& out) noexcept {
    Interface all[kMaxInterfaces];
    const int n = list_interfaces(all, kMaxInterfaces);
    for (int k = 0; k < n; ++k) {
        if (name != nullptr ? std::strncmp(all[k].name, name, IFNAMSIZ) == 0 : all[k].index == index) {
            out = all[k];
            return true;
        }
    }
    return false;
}

unsigned flags_of(const Interface& i) noexcept {
    return i.loopback ? IFF_UP | IFF_RUNNING | IFF_LOOPBACK : IFF_UP | IFF_RUNNING | IFF_BROADCAST | IFF_MULTICAST;
}

sockaddr_in v4(uint32_t address) noexcept {
    sockaddr_in in{};
    in.sin_family = AF_INET;
    in.sin_addr.s_addr = htonl(address);
    return in;
}

sockaddr_in6 v6(uint32_t address, bool loopback) noexcept {
    sockaddr_in6 in{};
    in.sin6_family = AF_INET6;
    if (loopback) {
        in.sin6_addr = in6addr_loopback;
        return in;
    }
    in.sin6_addr.s6_addr[0] = 0xFD;
    const uint32_t last = htonl(address);
    std::memcpy(in.sin6_addr.s6_addr + 12, &last, 4);
    return in;
}

int list_for_ioctl(ifconf& conf) noexcept {
    Interface all[kMaxInterfaces];
    const int n = list_interfaces(all, kMaxInterfaces);
    const auto room = static_cast<int>(static_cast<size_t>(conf.ifc_len) / sizeof(ifreq));
    int k = 0;
    for (int i = 0; i < n; ++i) {
        if (all[i].address == 0) continue;
        if (conf.ifc_req != nullptr) {
            if (k >= room) break;
            ifreq& r = conf.ifc_req[k];
            std::memset(&r, 0, sizeof r);
            std::memcpy(r.ifr_name, all[i].name, IFNAMSIZ);
            const sockaddr_in a = v4(all[i].address);
            std::memcpy(&r.ifr_addr, &a, sizeof a);
        }
        ++k;
    }
    conf.ifc_len = k * static_cast<int>(sizeof(ifreq));
    return 0;
}

/// One block: the list's entries and their addresses, so that one free() ends it.
struct IfaddrsBlock {
    uint64_t magic;
    ifaddrs entries[kMaxInterfaces * 3];
    sockaddr_storage addresses[kMaxInterfaces * 3];
    sockaddr_storage masks[kMaxInterfaces * 3];
    char names[kMaxInterfaces][IFNAMSIZ];
};
constexpr uint64_t kBlockMagic = 0x5356494641444452ULL;

ifaddrs& add_entry(IfaddrsBlock& block, int& n, int interface, const Interface& i) noexcept {
    ifaddrs& e = block.entries[n];
    e.ifa_name = block.names[interface];
    e.ifa_flags = flags_of(i);
    e.ifa_addr = reinterpret_cast<sockaddr*>(&block.addresses[n]);
    e.ifa_netmask = reinterpret_cast<sockaddr*>(&block.masks[n]);
    if (n > 0) block.entries[n - 1].ifa_next = &e;
    ++n;
    return e;
}

template <typename T>
void put(sockaddr_storage& out, const T& value) noexcept {
    std::memcpy(&out, &value, sizeof value);
}

}  // namespace

int list_interfaces(Interface* out, int room) noexcept {
    int n = 0;
    Interface lo;
    std::strcpy(lo.name, "lo");
    lo.index = 1;
    lo.address = INADDR_LOOPBACK;
    lo.mtu = 65536;
    lo.loopback = true;
    if (n < room) out[n] = lo;
    ++n;
    const protocol::HelloReply& hello = connection::hello_reply();
    bool first = true;
    for (uint32_t d = 0; d < hello.num_devices && d < protocol::kMaxDevicesPerHost; ++d) {
        if (hello.devices[d].netdev[0] == '\0') continue;
        Interface i;
        std::memcpy(i.name, hello.devices[d].netdev, sizeof i.name);
        i.index = 2 + d;
        i.mtu = 1500;
        i.address = first ? host_address() : 0;
        first = false;
        fill_from_tree(i);
        if (n < room) out[n] = i;
        ++n;
    }
    return std::min(n, room);
}

bool interface_ioctl(unsigned long request, void* argument, int& result) noexcept {
    if (request == SIOCGIFCONF) {
        result = list_for_ioctl(*static_cast<ifconf*>(argument));
        return true;
    }
    switch (request) {
        case SIOCGIFNAME:
        case SIOCGIFINDEX:
        case SIOCGIFFLAGS:
        case SIOCGIFADDR:
        case SIOCGIFNETMASK:
        case SIOCGIFBRDADDR:
        case SIOCGIFHWADDR:
        case SIOCGIFMTU:
            break;
        default:
            return false;
    }
    auto& r = *static_cast<ifreq*>(argument);
    Interface i;
    const bool by_index = request == SIOCGIFNAME;
    if (!find_interface(by_index ? nullptr : r.ifr_name, by_index ? static_cast<unsigned>(r.ifr_ifindex) : 0, i)) {
        errno = ENODEV;
        result = -1;
        return true;
    }
    const uint32_t mask = i.loopback ? 0xFF000000 : 0xFFFF0000;
    const auto answer = [&](uint32_t address) {
        const sockaddr_in a = v4(address);
        std::memcpy(&r.ifr_addr, &a, sizeof a);
    };
    result = 0;
    switch (request) {
        case SIOCGIFNAME:
            std::memcpy(r.ifr_name, i.name, IFNAMSIZ);
            break;
        case SIOCGIFINDEX:
            r.ifr_ifindex = static_cast<int>(i.index);
            break;
        case SIOCGIFFLAGS:
            r.ifr_flags = static_cast<short>(flags_of(i));
            break;
        case SIOCGIFNETMASK:
            answer(mask);
            break;
        case SIOCGIFBRDADDR:
            answer(i.address | ~mask);
            break;
        case SIOCGIFHWADDR:
            r.ifr_hwaddr.sa_family = i.loopback ? ARPHRD_LOOPBACK : ARPHRD_ETHER;
            std::memcpy(r.ifr_hwaddr.sa_data, i.mac, 6);
            break;
        case SIOCGIFMTU:
            r.ifr_mtu = static_cast<int>(i.mtu);
            break;
        default:
            if (i.address == 0) {
                errno = EADDRNOTAVAIL;
                result = -1;
            } else {
                answer(i.address);
            }
    }
    return true;
}

}  // namespace simverbs::client::net

using namespace simverbs::client;
using namespace simverbs::client::net;

SIMVERBS_INTERPOSE int getifaddrs(ifaddrs** out) noexcept {
    SIMVERBS_REAL(getifaddrs);
    if (lab() == nullptr) return real_getifaddrs(out);
    auto* block = static_cast<IfaddrsBlock*>(std::calloc(1, sizeof(IfaddrsBlock)));
    if (block == nullptr) {
        errno = ENOMEM;
        return -1;
    }
    block->magic = kBlockMagic;
    Interface all[kMaxInterfaces];
    const int count = list_interfaces(all, kMaxInterfaces);
    int n = 0;
    for (int k = 0; k < count; ++k) {
        const Interface& i = all[k];
        std::memcpy(block->names[k], i.name, IFNAMSIZ);
        sockaddr_ll link{};
        link.sll_family = AF_PACKET;
        link.sll_ifindex = static_cast<int>(i.index);
        link.sll_hatype = i.loopback ? ARPHRD_LOOPBACK : ARPHRD_ETHER;
        link.sll_halen = 6;
        std::memcpy(link.sll_addr, i.mac, 6);
        put(block->addresses[n], link);
        add_entry(*block, n, k, i).ifa_netmask = nullptr;
        if (i.address == 0) continue;
        put(block->addresses[n], v4(i.address));
        put(block->masks[n], v4(i.loopback ? 0xFF000000 : 0xFFFF0000));
        add_entry(*block, n, k, i);
        put(block->addresses[n], v6(i.address, i.loopback));
        sockaddr_in6 mask{};
        mask.sin6_family = AF_INET6;
        std::memset(mask.sin6_addr.s6_addr, 0xFF, i.loopback ? 16 : 8);
        put(block->masks[n], mask);
        add_entry(*block, n, k, i);
    }
    *out = &block->entries[0];
    return 0;
}

SIMVERBS_INTERPOSE void freeifaddrs(ifaddrs* list) noexcept {
    SIMVERBS_REAL(freeifaddrs);
    if (list == nullptr) return;
    if (lab() != nullptr) {
        auto* block = reinterpret_cast<IfaddrsBlock*>(reinterpret_cast<char*>(list) - offsetof(IfaddrsBlock, entries));
        if (block->magic == kBlockMagic) {
            std::free(block);
            return;
        }
    }
    real_freeifaddrs(list);
}

SIMVERBS_INTERPOSE unsigned if_nametoindex(const char* name) noexcept {
    SIMVERBS_REAL(if_nametoindex);
    if (lab() == nullptr) return real_if_nametoindex(name);
    Interface i;
    if (find_interface(name, 0, i)) return i.index;
    errno = ENODEV;
    return 0;
}

SIMVERBS_INTERPOSE char* if_indextoname(unsigned index, char* name) noexcept {
    SIMVERBS_REAL(if_indextoname);
    if (lab() == nullptr) return real_if_indextoname(index, name);
    Interface i;
    if (!find_interface(nullptr, index, i)) {
        errno = ENXIO;
        return nullptr;
    }
    std::memcpy(name, i.name, IFNAMSIZ);
    return name;
}
