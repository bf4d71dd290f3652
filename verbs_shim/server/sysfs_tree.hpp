// The real directory that stands for /sys on a simulated host.
#pragma once

#include <cstdint>

namespace simverbs::server {

struct Host;

/// Makes host.sysfs_root with class/infiniband, class/infiniband_verbs, class/infiniband_mad, class/net and the
/// devices' own folders, as tools read them. Counter files exist, empty: their values are made when they are opened.
/// Throws std::runtime_error if a file cannot be written.
void make_sysfs_tree(const Host& host);
/// State, LID, GIDs and P_Keys of a port (from 1) of NIC `nic`, anew. Throws likewise.
void update_sysfs_port(const Host& host, uint32_t nic, uint8_t port);

}  // namespace simverbs::server
