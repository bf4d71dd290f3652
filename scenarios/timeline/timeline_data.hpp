// A timeline as the data that its page's script draws.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "models/timeline/timeline.hpp"

namespace simverbs::scenarios::timeline {

using simverbs::timeline::Timeline;

/// Times are picoseconds; "ports", "qps", "packets" and "events" are named by their places in those lists. Members that
/// would be false, empty or absent are left out of packets.
///   ports    name
///   qps      port, name, type, peer, created, destroyed, management
///   packets  t (first bit sent), r (last bit in; of lost ones: when they were), from, to, s, d (queue pairs), q
///   (DestQP), op,
///            name, psn, bytes, wire, flags, kind, again (a retransmission), copy, late, ce, fate, headers, what
///   states   [t, queue pair, state, by the program]
///   work     t, end, qp, send, op, id, bytes, status (of completed ones), cqe, srq
///   events   t, kind, port, qp, packet, text
[[nodiscard]] nlohmann::json timeline_data(const Timeline& timeline);

/// "h0", or "h0 mlx5_0/1" where the host has several ports.
[[nodiscard]] std::string port_name(const Timeline& timeline, size_t port);

}  // namespace simverbs::scenarios::timeline
