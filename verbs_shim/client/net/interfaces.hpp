// The network interfaces of a simulated host: lo, and one Ethernet (or IPoIB) interface a NIC port.
#pragma once

#include <cstdint>

namespace simverbs::client::net {

struct Interface {
    char name[16] = {};
    unsigned index = 0;
    uint32_t address = 0;  ///< host byte order; 0 if it has none
    uint8_t mac[6] = {};
    unsigned mtu = 0;
    bool loopback = false;
};

/// Fills up to `room` interfaces; returns how many there are.
int list_interfaces(Interface* out, int room) noexcept;

/// Answers SIOCGIF* questions about simulated interfaces. Returns false if `request` is none of them.
bool interface_ioctl(unsigned long request, void* argument, int& result) noexcept;

}  // namespace simverbs::client::net
