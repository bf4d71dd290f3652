#include "verbs_shim/server/sysfs_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "models/wire/gid.hpp"
#include "models/wire/mac_address.hpp"
#include "verbs_shim/protocol/pci_address.hpp"
#include "verbs_shim/server/lab.hpp"

namespace simverbs::server {

namespace fs = std::filesystem;

namespace {

void put(const fs::path& file, std::string_view line) {
    errno = 0;
    std::ofstream out(file);
    out << line << '\n';
    if (!out.flush())
        throw std::system_error(errno != 0 ? errno : EIO, std::generic_category(), "cannot write " + file.string());
}

std::string guid_text(uint64_t guid) {
    return fmt::format("{:04x}:{:04x}:{:04x}:{:04x}", guid >> 48, (guid >> 32) & 0xFFFF, (guid >> 16) & 0xFFFF,
                       guid & 0xFFFF);
}

std::string gid_text(const hca::Gid& gid) {
    wire::Gid g;
    std::copy(gid.begin(), gid.end(), g.bytes.begin());
    return wire::to_string(g);
}

const char* speed_name(uint32_t speed) {
    switch (speed) {
        case 1:
            return "SDR";
        case 2:
            return "DDR";
        case 4:
            return "QDR";
        case 8:
            return "FDR10";
        case 16:
            return "FDR";
        case 32:
            return "EDR";
        case 64:
            return "HDR";
        case 128:
            return "NDR";
        default:
            return "XDR";
    }
}

std::string rate_text(const hca::HcaPortConfig& port, const hca::PortAttr& attr) {
    const int width = attr.active_width == 1 ? 1 : attr.active_width == 4 ? 8 : attr.active_width == 16 ? 2 : 4;
    const int64_t tenths = port.rate.in_bps() / 100'000'000;
    const std::string rate = tenths % 10 == 0 ? fmt::format("{}", tenths / 10) : fmt::format("{:.1f}", tenths / 10.0);
    return fmt::format("{} Gb/sec ({}X {})", rate, width, speed_name(attr.active_speed));
}

/// What may change while programs run.
void put_changing(const fs::path& dir, const hca::Hca& hca, uint8_t number) {
    const hca::HcaPortConfig& port = hca.config().ports[number - 1U];
    const hca::PortAttr attr = hca.query_port(number).value;
    static constexpr const char* kStates[] = {"0: NOP", "1: DOWN", "2: INIT", "3: ARMED", "4: ACTIVE"};
    static constexpr const char* kPhysStates[] = {
        "0: <unknown>", "1: Sleep", "2: Polling", "3: Disabled", "4: PortConfigurationTraining", "5: LinkUp"};
    put(dir / "state", kStates[std::min<size_t>(static_cast<size_t>(attr.state), 4)]);
    put(dir / "phys_state", kPhysStates[std::min<size_t>(attr.phys_state, 5)]);
    put(dir / "lid", fmt::format("0x{:x}", attr.lid));
    for (size_t i = 0; i < std::max(port.gids.size(), static_cast<size_t>(attr.gid_tbl_len)); ++i) {
        const std::string index = std::to_string(i);
        const bool used = i < port.gids.size();
        put(dir / "gids" / index, gid_text(used ? port.gids[i].gid : hca::Gid{}));
        if (!used) continue;
        put(dir / "gid_attrs/types" / index, port.gids[i].type == hca::GidType::RoceV2 ? "RoCE v2" : "IB/RoCE v1");
        if (!port.gids[i].netdev.empty()) put(dir / "gid_attrs/ndevs" / index, port.gids[i].netdev);
    }
    for (size_t i = 0; i < std::max(port.pkeys.size(), static_cast<size_t>(attr.pkey_tbl_len)); ++i)
        put(dir / "pkeys" / std::to_string(i), fmt::format("0x{:04x}", i < port.pkeys.size() ? port.pkeys[i] : 0));
}

void make_port(const fs::path& dir, const hca::Hca& hca, uint8_t number) {
    const hca::HcaPortConfig& port = hca.config().ports[number - 1U];
    const hca::PortAttr attr = hca.query_port(number).value;
    const bool ethernet = port.link_layer == hca::LinkLayer::Ethernet;
    for (const char* sub : {"gids", "gid_attrs/types", "gid_attrs/ndevs", "pkeys", "counters", "hw_counters"})
        fs::create_directories(dir / sub);
    put(dir / "rate", rate_text(port, attr));
    put(dir / "lid_mask_count", fmt::format("{}", attr.lmc));
    put(dir / "sm_lid", fmt::format("0x{:x}", attr.sm_lid));
    put(dir / "sm_sl", fmt::format("{}", attr.sm_sl));
    put(dir / "link_layer", ethernet ? "Ethernet" : "InfiniBand");
    put(dir / "cap_mask", fmt::format("0x{:08x}", attr.port_cap_flags));
    put_changing(dir, hca, number);
    for (const hca::NamedCounter& counter : hca.port_counters(number)) put(dir / "counters" / counter.name, "0");
    for (const hca::NamedCounter& counter : hca.hw_counters(number)) put(dir / "hw_counters" / counter.name, "0");
}

/// The slowest generation of PCIe whose sixteen lanes carry what the adapter reads (8b/10b is over since 8 GT/s).
const char* link_speed(const hca::Hca& hca) {
    const int64_t mbps = hca.profile().timing.pcie_read_rate.in_bps() / 1'000'000;
    return mbps <= 126'000 ? "8.0 GT/s PCIe" : mbps <= 252'000 ? "16.0 GT/s PCIe" : "32.0 GT/s PCIe";
}

void make_pci_device(const fs::path& dir, const hca::Hca& hca, const std::string& slot) {
    const hca::DeviceAttr& attr = hca.query_device();
    const bool ethernet = hca.config().ports.front().link_layer == hca::LinkLayer::Ethernet;
    put(dir / "vendor", attr.vendor_id == 0x02c9 ? "0x15b3" : fmt::format("0x{:04x}", attr.vendor_id));
    put(dir / "device", fmt::format("0x{:04x}", attr.vendor_part_id));
    put(dir / "subsystem_vendor", attr.vendor_id == 0x02c9 ? "0x15b3" : fmt::format("0x{:04x}", attr.vendor_id));
    put(dir / "subsystem_device", "0x0001");
    put(dir / "class", ethernet ? "0x020000" : "0x020700");
    put(dir / "revision", "0x00");
    put(dir / "numa_node", "0");
    put(dir / "local_cpulist", "0");
    put(dir / "local_cpus", "1");
    put(dir / "irq", "0");
    put(dir / "current_link_width", "16");
    put(dir / "max_link_width", "16");
    put(dir / "current_link_speed", link_speed(hca));
    put(dir / "max_link_speed", link_speed(hca));
    put(dir / "uevent", fmt::format("DRIVER=mlx5_core\nPCI_SLOT_NAME={}", slot));
}

void make_netdev(const fs::path& dir, const hca::Hca& hca, uint32_t nic) {
    const hca::HcaPortConfig& port = hca.config().ports.front();
    const bool ethernet = port.link_layer == hca::LinkLayer::Ethernet;
    fs::create_directories(dir);
    put(dir / "address", wire::to_string(port.mac));
    put(dir / "addr_len", ethernet ? "6" : "20");
    // RoCE takes the largest IB MTU that fits into the interface's with its headers.
    put(dir / "mtu", fmt::format("{}", ethernet ? hca::bytes_of(port.active_mtu) + 104 : 2044));
    put(dir / "ifindex", fmt::format("{}", nic + 2));
    put(dir / "iflink", fmt::format("{}", nic + 2));
    put(dir / "type", ethernet ? "1" : "32");
    put(dir / "operstate", "up");
    put(dir / "carrier", "1");
    put(dir / "flags", "0x1003");
    put(dir / "dev_id", "0x0");
    put(dir / "dev_port", "0");
    put(dir / "duplex", "full");
    put(dir / "speed", fmt::format("{}", port.rate.in_bps() / 1'000'000));
    put(dir / "tx_queue_len", "1000");
    fs::create_directory_symlink("../..", dir / "device");
}

struct Classes {
    fs::path root, infiniband, verbs, mad, net;
};

/// A PCI address in a domain that no real machine's devices are in: what a program finds by it is this adapter.
std::string slot_of(uint32_t nic) {
    return fmt::format("{}:{:02x}:00.0", protocol::kPciDomain, nic + 1);
}

std::string pci_of(uint32_t nic) {
    return fmt::format("devices/pci{}:00/{}", protocol::kPciDomain, slot_of(nic));
}

/// A class entry: a link to where the device really is.
void link_class(const fs::path& class_dir, const std::string& name, const std::string& target) {
    fs::create_directory_symlink("../../" + target, class_dir / name);
}

void make_nic(const Classes& c, const Nic& nic, uint32_t index) {
    const hca::Hca& hca = *nic.hca;
    const std::string slot = slot_of(index);
    const std::string pci = pci_of(index);
    const std::string verbs_name = fmt::format("uverbs{}", index);
    const fs::path ib = c.root / pci / "infiniband" / nic.config.device;
    const fs::path uverbs = c.root / pci / "infiniband_verbs" / verbs_name;
    fs::create_directories(ib / "ports");
    fs::create_directories(uverbs);
    make_pci_device(c.root / pci, hca, slot);
    fs::create_directories(c.root / "bus/pci/devices");
    fs::create_directory_symlink("../../../" + pci, c.root / "bus/pci/devices" / slot);

    const hca::DeviceAttr& attr = hca.query_device();
    put(ib / "node_guid", guid_text(attr.node_guid));
    put(ib / "sys_image_guid", guid_text(attr.sys_image_guid));
    put(ib / "node_type", "1: CA");
    put(ib / "node_desc", hca.config().name);
    put(ib / "fw_ver", attr.fw_ver);
    put(ib / "hw_rev", fmt::format("{:x}", attr.hw_ver));
    put(ib / "board_id", hca.profile().board_id);
    put(ib / "hca_type", hca.profile().hca_type);
    fs::create_directory_symlink("../..", ib / "device");
    for (uint8_t port = 1; port <= hca.config().ports.size(); ++port)
        make_port(ib / "ports" / std::to_string(port), hca, port);
    link_class(c.infiniband, nic.config.device, pci + "/infiniband/" + nic.config.device);

    put(uverbs / "ibdev", nic.config.device);
    put(uverbs / "abi_version", "1");
    put(uverbs / "dev", fmt::format("231:{}", 192 + index));
    fs::create_directory_symlink("../..", uverbs / "device");
    link_class(c.verbs, verbs_name, pci + "/infiniband_verbs/" + verbs_name);
    put(c.root / "dev/infiniband" / verbs_name, "");  // UCX takes a device only if it may read and write this file

    make_netdev(c.root / pci / "net" / nic.config.netdev, hca, index);
    link_class(c.net, nic.config.netdev, pci + "/net/" + nic.config.netdev);

    for (size_t port = 1; port <= hca.config().ports.size(); ++port) {
        const std::string umad = fmt::format("umad{}", index * 2 + port - 1);
        const fs::path dir = c.root / pci / "infiniband_mad" / umad;
        fs::create_directories(dir);
        put(dir / "ibdev", nic.config.device);
        put(dir / "port", std::to_string(port));
        link_class(c.mad, umad, pci + "/infiniband_mad/" + umad);
    }
}

void make_loopback(const fs::path& dir) {
    fs::create_directories(dir);
    put(dir / "address", "00:00:00:00:00:00");
    put(dir / "addr_len", "6");
    put(dir / "mtu", "65536");
    put(dir / "ifindex", "1");
    put(dir / "type", "772");
    put(dir / "operstate", "unknown");
    put(dir / "flags", "0x9");
}

}  // namespace

void update_sysfs_port(const Host& host, uint32_t nic, uint8_t port) {
    const Nic& n = host.nics[nic];
    const fs::path dir = fs::path(host.sysfs_root) / pci_of(nic) / "infiniband" / n.config.device / "ports";
    put_changing(dir / std::to_string(port), *n.hca, port);
}

void make_sysfs_tree(const Host& host) {
    const fs::path root = host.sysfs_root;
    const Classes c{root, root / "class/infiniband", root / "class/infiniband_verbs", root / "class/infiniband_mad",
                    root / "class/net"};
    for (const fs::path& dir : {c.infiniband, c.verbs, c.mad, c.net}) fs::create_directories(dir);
    put(c.verbs / "abi_version", "6");
    put(c.mad / "abi_version", "5");
    // rdma_cm: what librdmacm reads of it, and a name to be found below /dev; opening it is the client's.
    fs::create_directories(root / "class/misc/rdma_cm");
    put(root / "class/misc/rdma_cm/abi_version", "4");
    put(root / "class/misc/rdma_cm/dev", "10:58");
    fs::create_directories(root / "dev/infiniband");
    put(root / "dev/infiniband/rdma_cm", "");
    make_loopback(root / "devices/virtual/net/lo");
    link_class(c.net, "lo", "devices/virtual/net/lo");
    for (uint32_t i = 0; i < host.nics.size(); ++i) make_nic(c, host.nics[i], i);
}

}  // namespace simverbs::server
