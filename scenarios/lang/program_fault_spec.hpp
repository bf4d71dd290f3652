// What programs meet, and what happens to the port of an adapter: the parts of a fault that no link has.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "scenarios/lang/place_ref.hpp"

namespace simverbs::scenarios {

/// States that a port can be put into, as ibv_query_port names them.
enum class PortStateWanted { Down, Armed, Active };
/// Events that a subnet manager makes.
enum class PortEventKind { LidChange, SmChange, ClientReregister };

struct ProgramFaultSpec {
    /// FailCall, LimitCq, PlaceCqe, DelayReceives: its name.
    PlaceRef name;
    std::string call;     ///< FailCall: "create_qp"
    int64_t number = 1;   ///< FailCall: of the call; LimitCq: of the CQ; PlaceCqe: of the arming; each from 1
    int64_t count = 1;    ///< FailCall: so many calls from there on
    std::string error;    ///< FailCall: "ENOMEM"
    int64_t cq = 0;       ///< PlaceCqe: number of the CQ, from 1; 0: any that has a channel
    int64_t entries = 1;  ///< LimitCq
    /// From PortState on: the port of an adapter.
    std::optional<PlaceRef> port;
    PortStateWanted state = PortStateWanted::Down;
    PortEventKind event = PortEventKind::ClientReregister;
    int64_t index = 0;                           ///< ChangeGid, ChangePkey: of the table
    std::optional<std::array<uint8_t, 16>> gid;  ///< ChangeGid; absent: the entry goes
    uint16_t pkey = 0;                           ///< ChangePkey
    std::optional<int64_t> lid;                  ///< PortEvent, LidChange: the new one
};

/// The errno of that name, such as "ENOMEM"; 0 if a scenario knows none of that name.
[[nodiscard]] int errno_of(std::string_view name) noexcept;

}  // namespace simverbs::scenarios
