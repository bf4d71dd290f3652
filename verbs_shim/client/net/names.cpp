// Names: a simulated host knows itself, localhost and the hosts of its lab, and asks nobody else.
#include <arpa/inet.h>
#include <netdb.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "verbs_shim/client/net/address.hpp"
#include "verbs_shim/client/net/lab.hpp"
#include "verbs_shim/client/net/real.hpp"
#include "verbs_shim/client/spin/spin.hpp"
#include "verbs_shim/client/turn/turn.hpp"

using namespace simverbs::client;
using namespace simverbs::client::net;

namespace {

bool numeric(const char* node) noexcept {
    in6_addr any;
    char bare[64];
    const size_t n = std::strcspn(node, "%");
    if (n >= sizeof bare) return false;
    std::memcpy(bare, node, n);
    bare[n] = '\0';
    return inet_pton(AF_INET, bare, &any) == 1 || inet_pton(AF_INET6, bare, &any) == 1;
}

/// The simulated address of a name, 0 if there is none.
uint32_t address_of(const char* name) noexcept {
    if (std::strcmp(name, "localhost") == 0) return INADDR_LOOPBACK;
    char bare[64];
    const size_t n = std::strcspn(name, ".");
    if (n >= sizeof bare) return 0;
    std::memcpy(bare, name, n);
    bare[n] = '\0';
    const int host = host_of_name(bare);
    return host < 0 ? 0 : lab()->hosts[host].address;
}

const char* name_of(uint32_t address) noexcept {
    if ((address >> 24) == 127) return "localhost";
    const int host = host_of_address(address);
    return host < 0 ? nullptr : lab()->hosts[host].name;
}

void put_text(uint32_t address, bool v6, char (&text)[64]) noexcept {
    if (v6 && address == INADDR_LOOPBACK) {
        std::snprintf(text, sizeof text, "::1");
    } else {
        std::snprintf(text, sizeof text, "%s%u.%u.%u.%u", v6 ? "::ffff:" : "", address >> 24, (address >> 16) & 0xFF,
                      (address >> 8) & 0xFF, address & 0xFF);
    }
}

struct HostEntryBuffer {
    hostent entry;
    char name[64];
    in_addr address;
    char* addresses[2];
    char* aliases[1];
};

hostent* host_entry(const char* name, uint32_t address) noexcept {
    static thread_local HostEntryBuffer b;
    std::snprintf(b.name, sizeof b.name, "%s", name);
    b.address.s_addr = htonl(address);
    b.addresses[0] = reinterpret_cast<char*>(&b.address);
    b.addresses[1] = nullptr;
    b.aliases[0] = nullptr;
    b.entry = {b.name, b.aliases, AF_INET, 4, b.addresses};
    return &b.entry;
}

}  // namespace

SIMVERBS_INTERPOSE int gethostname(char* name, size_t room) noexcept {
    SIMVERBS_REAL(gethostname);
    if (lab() == nullptr) return real_gethostname(name, room);
    const size_t n = std::strlen(host_name()) + 1;
    if (n > room) {
        errno = ENAMETOOLONG;
        return -1;
    }
    std::memcpy(name, host_name(), n);
    return 0;
}

SIMVERBS_INTERPOSE int __gethostname_chk(char* name, size_t bytes, size_t room) noexcept {
    return gethostname(name, bytes < room ? bytes : room);
}

SIMVERBS_INTERPOSE int uname(utsname* out) noexcept {
    SIMVERBS_REAL(uname);
    const int rc = real_uname(out);
    if (rc == 0 && lab() != nullptr) std::snprintf(out->nodename, sizeof out->nodename, "%s", host_name());
    return rc;
}

SIMVERBS_INTERPOSE int getaddrinfo(const char* node, const char* service, const addrinfo* hints, addrinfo** out) {
    SIMVERBS_REAL(getaddrinfo);
    if (lab() == nullptr) return real_getaddrinfo(node, service, hints, out);
    const turn::InShim in;
    addrinfo asked{};
    if (hints != nullptr) asked = *hints;
    asked.ai_flags &= ~AI_ADDRCONFIG;  // the machine underneath may have no address but loopback
    if (node == nullptr || numeric(node)) return real_getaddrinfo(node, service, &asked, out);
    const uint32_t address = address_of(node);
    if (address == 0 || (asked.ai_flags & AI_NUMERICHOST) != 0) return EAI_NONAME;
    char text[64];
    put_text(address, asked.ai_family == AF_INET6, text);
    const bool canonical = (asked.ai_flags & AI_CANONNAME) != 0;
    asked.ai_flags = (asked.ai_flags & ~AI_V4MAPPED) | AI_NUMERICHOST;
    const int rc = real_getaddrinfo(text, service, &asked, out);
    if (rc == 0 && canonical && (*out)->ai_canonname != nullptr &&
        std::strlen(node) <= std::strlen((*out)->ai_canonname))
        std::strcpy((*out)->ai_canonname, node);
    return rc;
}

SIMVERBS_INTERPOSE int getnameinfo(const sockaddr* address, socklen_t length, char* host, socklen_t host_room,
                                   char* service, socklen_t service_room, int flags) {
    SIMVERBS_REAL(getnameinfo);
    if (lab() == nullptr) return real_getnameinfo(address, length, host, host_room, service, service_room, flags);
    const turn::InShim in;
    const Meaning m = meaning_of(address, length);
    const bool by_name = (flags & NI_NUMERICHOST) == 0 && host != nullptr && host_room > 0;
    const uint32_t a = m.kind == AddressKind::Loopback ? INADDR_LOOPBACK : m.endpoint.address;
    const char* name =
        by_name && (m.kind == AddressKind::Lab || m.kind == AddressKind::Loopback) ? name_of(a) : nullptr;
    if (by_name && name == nullptr && (flags & NI_NAMEREQD) != 0) return EAI_NONAME;
    const int rc = real_getnameinfo(address, length, host, host_room, service, service_room, flags | NI_NUMERICHOST);
    if (rc != 0 || name == nullptr) return rc;
    if (std::strlen(name) >= host_room) return EAI_OVERFLOW;
    std::strcpy(host, name);
    return 0;
}

SIMVERBS_INTERPOSE hostent* gethostbyname(const char* name) {
    SIMVERBS_REAL(gethostbyname);
    if (lab() == nullptr) return real_gethostbyname(name);
    in_addr a{};
    if (inet_pton(AF_INET, name, &a) == 1) return host_entry(name, ntohl(a.s_addr));
    const uint32_t address = address_of(name);
    if (address == 0) {
        h_errno = HOST_NOT_FOUND;
        return nullptr;
    }
    return host_entry(name, address);
}

SIMVERBS_INTERPOSE hostent* gethostbyname2(const char* name, int family) {
    SIMVERBS_REAL(gethostbyname2);
    if (lab() == nullptr) return real_gethostbyname2(name, family);
    if (family == AF_INET) return gethostbyname(name);
    h_errno = NO_DATA;
    return nullptr;
}

SIMVERBS_INTERPOSE hostent* gethostbyaddr(const void* address, socklen_t length, int family) {
    SIMVERBS_REAL(gethostbyaddr);
    if (lab() == nullptr) return real_gethostbyaddr(address, length, family);
    uint32_t a = 0;
    if (family == AF_INET && length >= 4) std::memcpy(&a, address, 4);
    const char* name = a == 0 ? nullptr : name_of(ntohl(a));
    if (name == nullptr) {
        h_errno = HOST_NOT_FOUND;
        return nullptr;
    }
    return host_entry(name, ntohl(a));
}
