// What went over the wires between programs' queue pairs, as plain data: packets, QP states, work requests.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/hca/verbs_types.hpp"
#include "sim/sim_time.hpp"

namespace simverbs::timeline {

/// "None" of an index into one of the vectors of a Timeline.
inline constexpr uint32_t kNone = 0xFFFFFFFF;

/// An adapter's port.
struct Port {
    std::string host;    ///< "h0"
    std::string device;  ///< "mlx5_0"
    int port = 1;
};

/// What became of a packet.
enum class Fate : uint8_t {
    UnderWay,   ///< it had not arrived when the run ended
    Received,   ///< by the port that it was sent to
    Corrupt,    ///< so too, but its ICRC is wrong: discarded there
    Trimmed,    ///< so too, but a switch has cut its payload off: discarded there
    Lost,       ///< a fault of a link took it
    Discarded,  ///< by a switch
};

/// Beside its fate, what faults and switches did to a packet on its way.
struct Treatment {
    bool duplicate = false;  ///< the copy that a fault has made
    bool delayed = false;
    bool reordered = false;
    bool marked = false;  ///< with congestion experienced (Ce, FECN), by a fault or a switch
};

struct Packet {
    sim::SimTime sent;                      ///< its first bit leaves `from`
    sim::SimTime received;                  ///< its last bit is in at `to`; of Lost and Discarded: when that happened
    uint32_t from = kNone, to = kNone;      ///< ports
    uint32_t source = kNone, dest = kNone;  ///< queue pairs
    uint32_t dest_qpn = 0, psn = 0;
    uint32_t payload_bytes = 0, wire_bytes = 0;
    uint8_t opcode = 0;
    bool ack_req = false, solicited = false, becn = false;
    bool is_retransmission = false;
    uint8_t syndrome = 0;  ///< of the AETH, where its opcode has one
    Fate fate = Fate::UnderWay;
    Treatment treatment;
    std::string name;                  ///< of its opcode; of a MAD, what it is: "CM REQ"
    std::vector<std::string> headers;  ///< behind the BTH, one line each: "AETH  NAK, PSN sequence error, MSN 7"
    std::string what_happened;         ///< a sentence: which fault or switch; "": nothing did
};

struct QueuePair {
    uint32_t adapter = 0;   ///< a number of its own for each adapter
    uint32_t port = kNone;  ///< where it stands
    uint32_t qpn = 0;
    uint32_t peer = kNone;  ///< the queue pair that it sends to; kNone: none, or several
    hca::QpType type = hca::QpType::Rc;
    bool is_management = false;  ///< QP 1, which no program has
    sim::SimTime created;
    std::optional<sim::SimTime> destroyed;
};

struct StateChange {
    sim::SimTime at;
    uint32_t qp = kNone;
    hca::QpState to = hca::QpState::Reset;
    bool by_program = true;
};

/// A work request from its post to its completion.
struct WorkRequest {
    sim::SimTime posted;
    uint32_t qp = kNone;  ///< of a receive in an SRQ: the one that took it, once it is completed
    bool is_send = true;
    bool from_srq = false;
    bool signaled = true;
    hca::WrOpcode opcode = hca::WrOpcode::Send;  ///< of sends
    uint64_t wr_id = 0;
    uint32_t length = 0;  ///< of a send: its message; of a receive: what came
    /// The program can see the CQE from here; unsignaled: the adapter was done. nullopt: neither.
    std::optional<sim::SimTime> completed;
    bool has_cqe = false;
    hca::WcStatus status = hca::WcStatus::Success;
    /// Of one that was never completed: until when it could have been.
    sim::SimTime open_until;
};

enum class EventKind : uint8_t {
    Fault,           ///< acted on a packet
    Discard,         ///< by a switch
    Nak,             ///< sent
    RnrNak,          ///< sent
    AckTimeout,      ///< a local ACK timeout has run out
    Retransmission,  ///< sent
    Incident,        ///< a check failed: what --explain tells
    ErrorState,      ///< the adapter moved a QP to SQE or ERR
    ErrorCompletion,
};

/// Something that a reader looks for.
struct Event {
    sim::SimTime at;
    EventKind kind = EventKind::Fault;
    uint32_t port = kNone, qp = kNone;
    uint32_t packet = kNone;  ///< that it happened to, or that told of it
    std::string text;
};

struct Timeline {
    std::vector<Port> ports;
    std::vector<QueuePair> queue_pairs;
    std::vector<Packet> packets;      ///< by time of sending
    std::vector<StateChange> states;  ///< by time
    std::vector<WorkRequest> work;    ///< by time of posting
    std::vector<Event> events;        ///< by time
    sim::SimTime end;                 ///< of the run
    std::optional<sim::SimTime> cut;  ///< nothing is kept from here on
    uint64_t packets_sent = 0;        ///< in the whole run
    uint64_t faults_left_out = 0;     ///< that acted on packets that are not kept, discards among them
    uint64_t retransmissions_left_out = 0;
    uint64_t work_left_out = 0;
    size_t most_packets = 0;  ///< that were to be kept
};

}  // namespace simverbs::timeline
