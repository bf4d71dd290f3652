// The host's PCI and NUMA nodes as its commands see them: lspci, setpci, numactl.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "sim/engine.hpp"
#include "verbs_shim/server/gpu/gpu_calls.hpp"
#include "verbs_shim/server/lab.hpp"

namespace simverbs::server {

using namespace protocol;

namespace {

/// The reply carries the records in a file.
template <class Record>
int give_records(GpuRequestScope& s, const std::vector<Record>& records) {
    UniqueFd file(::memfd_create("records", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    const auto bytes = static_cast<ssize_t>(records.size() * sizeof(Record));
    if (!file.valid() || ::pwrite(file.get(), records.data(), static_cast<size_t>(bytes), 0) != bytes)
        return kGpuOutOfMemory;
    (void)::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
    s.reply.value = records.size();
    s.call.fds.push_back(std::move(file));
    return kGpuSuccess;
}

}  // namespace

std::vector<PciInfo> GpuHost::pci_functions() const {
    std::vector<PciInfo> found;
    if (timing_.pci_functions) found = timing_.pci_functions();
    for (const auto& [port, value] : acs_control_)
        if (port < found.size()) found[port].acs_control = value;
    return found;
}

void GpuHost::write_acs_control(const std::vector<PciInfo>& functions, size_t port, uint32_t value, SimTime now) {
    acs_control_[port] = value & kAcsCapable;
    bool redirects = false;
    for (size_t i = 0; i < functions.size(); ++i) {
        const bool same_switch =
            functions[i].kind == PciKind::DownstreamPort && functions[i].index == functions[port].index;
        // What nobody has written has been turned on by the platform: it stays so when another port changes.
        if (same_switch) acs_control_.emplace(i, functions[i].acs_control);
        redirects |= same_switch && (acs_control_[i] & kAcsRequestRedirect) != 0;
    }
    if (!timing_.redirect_peers) return;
    timing_.redirect_peers(static_cast<uint16_t>(functions[port].index), redirects, std::max(now, engine().frontier()));
}

int gpu_pci_functions(GpuRequestScope& s) {
    return give_records(s, s.host.pci_functions());
}

int gpu_acs_control(GpuRequestScope& s) {
    const std::vector<PciInfo> functions = s.host.pci_functions();
    const auto port = static_cast<size_t>(s.request.value);
    if (port >= functions.size() || functions[port].kind != PciKind::DownstreamPort) return kGpuInvalidValue;
    s.host.write_acs_control(functions, port, s.request.flags, s.call.now);
    return kGpuSuccess;
}

int gpu_numa_nodes(GpuRequestScope& s) {
    return give_records(s, s.host.config().numa);
}

}  // namespace simverbs::server
