// Why something was refused or went wrong, in a form that can be told in plain sentences (--explain) and tested.
#pragma once

#include <cstdint>
#include <string>

#include "models/hca/verbs_types.hpp"
#include "sim/sim_time.hpp"

namespace simverbs::hca {

/// The rule that a refused call broke. One sentence each in explanation.cpp.
enum class Rule : uint8_t {
    None,
    NoSuchObject,          ///< a handle or number that names nothing of this client
    ObjectInUse,           ///< EBUSY: something still refers to the object
    OutOfResources,        ///< a device limit was reached
    LimitExceeded,         ///< a requested size is above a device limit, or zero where that is senseless
    CurrentStateMismatch,  ///< IBV_QP_CUR_STATE given, and it is not the QP's state
    NoSuchTransition,      ///< the state table has no such transition for this QP type
    AttributeMissing,      ///< a required attribute is not in the mask
    AttributeNotAllowed,   ///< an attribute in the mask is not allowed in this transition
    AttributeOutOfRange,   ///< an attribute has an impossible value
    GrhRequired,           ///< RoCE: an address vector without a GRH
    GidIndexInvalid,       ///< sgid_index names no entry of the port's GID table
    GidUnreachable,        ///< no neighbour has this destination GID (no route or MAC)
    LidUnreachable,        ///< no port has this DLID
    PkeyInvalid,           ///< the P_Key index names no entry, or an invalid P_Key
    AccessFlagsInvalid,    ///< remote write or atomic without local write, or unknown bits
    MemoryUnreachable,     ///< the range to register is not in the process's memory
    RangeInvalid,          ///< zero length, or it wraps around
    PdMismatch,            ///< objects of different protection domains
    QpTypeUnsupported,     ///< EOPNOTSUPP
    OpcodeUnsupported,     ///< the opcode does not exist for this QP type
    PostInWrongState,      ///< a post in a state where it must fail
    QueueFull,             ///< ENOMEM: as many WRs outstanding as the queue was created for
    TooManySges,           ///< more SGEs than the queue was created for
    InlineTooLarge,        ///< inline data above max_inline_data
    UsesSrq,               ///< post_recv on a QP that has an SRQ
    AhInvalid,             ///< UD send with an unknown AH, or one of another PD
    MessageTooLong,        ///< longer than max_msg_sz (UD: than the MTU)
    CqTooSmallForEntries,  ///< resize below the number of unpolled entries
    MulticastGidInvalid,   ///< not a multicast GID, or the QP is not UD
};

/// Filled by a refused call if its caller asked (ControlContext::why). Texts are what a message needs, no prose.
struct Explanation {
    Rule rule = Rule::None;
    std::string attribute;  ///< verbs name of what is wrong: "IBV_QP_MIN_RNR_TIMER", "cap.max_send_wr", "sgid_index"
    std::string required;   ///< what was required: "0…31", "one of IBV_QP_STATE | …"
    std::string given;      ///< what was given
    std::string where;      ///< what was asked: "ibv_modify_qp RC QP 0x000123 INIT -> RTR"
    std::string advice;     ///< what to do
};

/// One or two plain sentences: what was asked, which rule it broke, what to do.
std::string to_sentence(const Explanation& e);

/// Which check failed when a QP, a message or a packet came to grief. The QP's own HCA reports it.
enum class Check : uint8_t {
    None,
    // local, when a WQE is executed
    LocalKey,         ///< unknown lkey, or its MR is of another PD
    LocalBounds,      ///< SGE outside its MR
    LocalAccess,      ///< MR without IBV_ACCESS_LOCAL_WRITE
    LocalMemory,      ///< the process's memory could not be read or written
    LocalLength,      ///< message longer than allowed
    LocalOperation,   ///< the opcode is not possible on this QP
    MwBind,           ///< the window, its MR and what is asked for do not allow the bind
    InvalidateKey,    ///< LOCAL_INV of a key that is not one of this QP's bound type 2 windows
    ReceiveTooSmall,  ///< the receive WQE is smaller than the message
    // at the responder
    RequestOpcode,     ///< opcode not possible, or out of sequence (FIRST without LAST, …)
    RequestPsn,        ///< a PSN ahead of the expected one: something was lost
    QpAccess,          ///< the QP's qp_access_flags forbid it
    RemoteKey,         ///< unknown rkey, or its MR is of another PD
    RemoteBounds,      ///< outside the MR
    RemoteAccess,      ///< MR without the remote right
    AtomicAlignment,   ///< address not a multiple of 8
    ReadResources,     ///< more outstanding READs/atomics than max_dest_rd_atomic
    RequestLength,     ///< payload does not agree with RETH length or MTU
    NoReceiveWqe,      ///< receive queue empty
    XrcSrq,            ///< the XRC SRQ number names no SRQ of this QP's domain
    InvalidateRemote,  ///< SEND with invalidate of a key that is not one of this QP's bound type 2 windows
    ResponderLocal,    ///< the responder's own WQE or memory is at fault
    // at the requester
    NakReceived,      ///< the peer sent a NAK
    AckTimeout,       ///< nothing came back: retry_cnt exhausted
    SequenceRetries,  ///< PSN sequence NAKs: retry_cnt exhausted
    RnrRetries,       ///< rnr_retry exhausted
    BadResponse,      ///< a response that makes no sense
    // anywhere
    PkeyMismatch,
    QkeyMismatch,
    NoSuchQp,
    QpNotReady,  ///< a packet for a QP in a state that does not receive
    CqOverrun,
    Flushed,
    Icrc,  ///< corrupt packet, dropped
};

/// A QP changed its state, or a check failed: raised by the QP's HCA, told through HostSink::on_incident. Cheap: no
/// strings. Drops of single packets that a protocol repairs are reported only as counters.
struct Incident {
    sim::SimTime at;
    Check check = Check::None;
    uint32_t qp_num = 0, peer_qpn = 0;
    QpType qp_type = QpType::Rc;
    QpState from = QpState::Reset, to = QpState::Reset;  ///< equal if the state did not change
    bool by_program = false;                             ///< a modify_qp; otherwise the HCA itself
    bool is_responder = false;                           ///< this side was the responder
    WcStatus status = WcStatus::Success;                 ///< of the CQE that tells the program
    uint64_t wr_id = 0;
    bool has_packet = false;  ///< psn and opcode (BTH) are of the packet that showed it
    uint32_t psn = 0, expected_psn = 0;
    uint8_t opcode = 0, aeth_syndrome = 0;
    uint64_t va = 0, length = 0;  ///< what was accessed
    uint32_t key = 0;             ///< with this lkey or rkey
    uint32_t retries = 0;         ///< retries made
};
std::string to_sentence(const Incident& i);

const char* name_of(QpState s) noexcept;   ///< "RESET", "INIT", …
const char* name_of(QpType t) noexcept;    ///< "RC", …
const char* name_of(WcStatus s) noexcept;  ///< "IBV_WC_SUCCESS" without the prefix: "SUCCESS"
const char* name_of(Rule r) noexcept;
const char* name_of(Check c) noexcept;
/// "IBV_QP_STATE | IBV_QP_PORT".
std::string names_of_attr_mask(uint32_t mask);

}  // namespace simverbs::hca
