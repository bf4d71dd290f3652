#include "models/hca/explanation.hpp"

#include <cstdio>

#include "models/wire/aeth_syndrome.hpp"
#include "models/wire/opcode_table.hpp"

namespace simverbs::hca {

const char* name_of(QpState s) noexcept {
    static constexpr const char* kNames[] = {"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"};
    return static_cast<size_t>(s) < std::size(kNames) ? kNames[static_cast<size_t>(s)] : "an unknown state";
}

const char* name_of(QpType t) noexcept {
    switch (t) {
        case QpType::Rc:
            return "RC";
        case QpType::Uc:
            return "UC";
        case QpType::Ud:
            return "UD";
        case QpType::RawPacket:
            return "RAW_PACKET";
        case QpType::XrcSend:
            return "XRC_SEND";
        case QpType::XrcRecv:
            return "XRC_RECV";
    }
    return "unknown";
}

const char* name_of(WcStatus s) noexcept {
    static constexpr const char* kNames[] = {"SUCCESS",
                                             "LOC_LEN_ERR",
                                             "LOC_QP_OP_ERR",
                                             "LOC_EEC_OP_ERR",
                                             "LOC_PROT_ERR",
                                             "WR_FLUSH_ERR",
                                             "MW_BIND_ERR",
                                             "BAD_RESP_ERR",
                                             "LOC_ACCESS_ERR",
                                             "REM_INV_REQ_ERR",
                                             "REM_ACCESS_ERR",
                                             "REM_OP_ERR",
                                             "RETRY_EXC_ERR",
                                             "RNR_RETRY_EXC_ERR",
                                             "LOC_RDD_VIOL_ERR",
                                             "REM_INV_RD_REQ_ERR",
                                             "REM_ABORT_ERR",
                                             "INV_EECN_ERR",
                                             "INV_EEC_STATE_ERR",
                                             "FATAL_ERR",
                                             "RESP_TIMEOUT_ERR",
                                             "GENERAL_ERR",
                                             "TM_ERR",
                                             "TM_RNDV_INCOMPLETE"};
    return static_cast<size_t>(s) < std::size(kNames) ? kNames[static_cast<size_t>(s)] : "unknown";
}

namespace {

struct RuleText {
    Rule rule;
    const char* name;
    const char* text;
};
constexpr RuleText kRules[] = {
    {Rule::None, "None", "nothing was wrong"},
    {Rule::NoSuchObject, "NoSuchObject", "there is no such object of this program"},
    {Rule::ObjectInUse, "ObjectInUse", "something still uses the object"},
    {Rule::OutOfResources, "OutOfResources", "the device has no more of these"},
    {Rule::LimitExceeded, "LimitExceeded", "the size is outside of the device's limits"},
    {Rule::CurrentStateMismatch, "CurrentStateMismatch", "IBV_QP_CUR_STATE names a state that the QP is not in"},
    {Rule::NoSuchTransition, "NoSuchTransition", "the QP state machine has no such transition"},
    {Rule::AttributeMissing, "AttributeMissing", "a required attribute is missing"},
    {Rule::AttributeNotAllowed, "AttributeNotAllowed", "an attribute is not allowed here"},
    {Rule::AttributeOutOfRange, "AttributeOutOfRange", "an attribute has an impossible value"},
    {Rule::GrhRequired, "GrhRequired", "RoCE needs a GRH in every address vector"},
    {Rule::GidIndexInvalid, "GidIndexInvalid", "the source GID index names no entry of the GID table"},
    {Rule::GidUnreachable, "GidUnreachable", "no port of the fabric has the destination GID"},
    {Rule::LidUnreachable, "LidUnreachable", "no port of the fabric has the destination LID"},
    {Rule::PkeyInvalid, "PkeyInvalid", "the P_Key table entry is invalid"},
    {Rule::AccessFlagsInvalid, "AccessFlagsInvalid", "the access flags contradict each other"},
    {Rule::MemoryUnreachable, "MemoryUnreachable", "the range is not in the program's memory"},
    {Rule::RangeInvalid, "RangeInvalid", "the range is impossible"},
    {Rule::PdMismatch, "PdMismatch", "the objects are of different protection domains"},
    {Rule::QpTypeUnsupported, "QpTypeUnsupported", "the device does not support this QP type"},
    {Rule::OpcodeUnsupported, "OpcodeUnsupported", "this QP type has no such operation"},
    {Rule::PostInWrongState, "PostInWrongState", "the QP is in a state in which this must not be posted"},
    {Rule::QueueFull, "QueueFull", "the queue is full"},
    {Rule::TooManySges, "TooManySges", "more SGEs than the queue was created for"},
    {Rule::InlineTooLarge, "InlineTooLarge", "more inline data than the QP was created for"},
    {Rule::UsesSrq, "UsesSrq", "the QP receives from an SRQ: post there"},
    {Rule::AhInvalid, "AhInvalid", "the address handle is unknown, or of another protection domain"},
    {Rule::MessageTooLong, "MessageTooLong", "the message is longer than max_msg_sz"},
    {Rule::CqTooSmallForEntries, "CqTooSmallForEntries", "the CQ holds more completions than that"},
    {Rule::MulticastGidInvalid, "MulticastGidInvalid", "only UD QPs can join, and only multicast GIDs"},
};

struct CheckText {
    Check check;
    const char* name;
    const char* text;
};
constexpr CheckText kChecks[] = {
    {Check::None, "None", "nothing failed"},
    {Check::LocalKey, "LocalKey", "an SGE's lkey names no memory region of the QP's protection domain"},
    {Check::LocalBounds, "LocalBounds", "an SGE reaches outside of its memory region"},
    {Check::LocalAccess, "LocalAccess", "an SGE's memory region lacks IBV_ACCESS_LOCAL_WRITE"},
    {Check::LocalMemory, "LocalMemory", "the program's memory could not be reached"},
    {Check::LocalLength, "LocalLength", "the message is longer than this QP can send"},
    {Check::LocalOperation, "LocalOperation", "the operation is not possible on this QP"},
    {Check::MwBind, "MwBind", "the memory window cannot be bound like this: key, protection domain, rights or range"},
    {Check::InvalidateKey, "InvalidateKey", "the key to invalidate is not that of a type 2 window bound on this QP"},
    {Check::ReceiveTooSmall, "ReceiveTooSmall", "the posted receive buffer is smaller than the message"},
    {Check::RequestOpcode, "RequestOpcode", "the request's opcode does not fit the message in progress"},
    {Check::RequestPsn, "RequestPsn", "the request's PSN is not the expected one"},
    {Check::QpAccess, "QpAccess", "the responder QP's qp_access_flags do not allow the operation"},
    {Check::RemoteKey, "RemoteKey", "the rkey names no memory region of the responder QP's protection domain"},
    {Check::RemoteBounds, "RemoteBounds", "the request reaches outside of the memory region"},
    {Check::RemoteAccess, "RemoteAccess", "the memory region was registered without the remote right"},
    {Check::AtomicAlignment, "AtomicAlignment", "the address of an atomic is not a multiple of 8"},
    {Check::ReadResources, "ReadResources", "more READs and atomics are outstanding than max_dest_rd_atomic allows"},
    {Check::RequestLength, "RequestLength", "the packets' payload does not add up to the announced length"},
    {Check::NoReceiveWqe, "NoReceiveWqe", "no receive request is posted"},
    {Check::XrcSrq, "XrcSrq", "the XRC SRQ number names no SRQ of the QP's XRC domain"},
    {Check::InvalidateRemote, "InvalidateRemote",
     "the key to invalidate is not that of a type 2 window bound on the responder QP"},
    {Check::ResponderLocal, "ResponderLocal", "the responder could not use its own receive request or memory"},
    {Check::NakReceived, "NakReceived", "the peer refused the request with a NAK"},
    {Check::AckTimeout, "AckTimeout", "the peer did not answer: all retries timed out"},
    {Check::SequenceRetries, "SequenceRetries", "packets were lost again and again: all retries are used up"},
    {Check::RnrRetries, "RnrRetries", "the peer had no receive request posted, and all RNR retries are used up"},
    {Check::BadResponse, "BadResponse", "a response made no sense"},
    {Check::PkeyMismatch, "PkeyMismatch", "the packet's P_Key does not match"},
    {Check::QkeyMismatch, "QkeyMismatch", "the datagram's Q_Key does not match"},
    {Check::NoSuchQp, "NoSuchQp", "there is no QP of this number"},
    {Check::QpNotReady, "QpNotReady", "the QP is in a state that does not receive"},
    {Check::CqOverrun, "CqOverrun", "the completion queue is full: completions were not polled in time"},
    {Check::Flushed, "Flushed", "the QP is in the error state"},
    {Check::Icrc, "Icrc", "the packet was corrupt"},
};

const RuleText& text_of(Rule r) noexcept {
    for (const RuleText& t : kRules)
        if (t.rule == r) return t;
    return kRules[0];
}
const CheckText& text_of(Check c) noexcept {
    for (const CheckText& t : kChecks)
        if (t.check == c) return t;
    return kChecks[0];
}

std::string hex(uint64_t value) {
    char text[32];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
    return text;
}

std::string qp_text(const Incident& i) {
    return std::string(name_of(i.qp_type)) + " QP " + hex(i.qp_num);
}

std::string packet_text(const Incident& i) {
    std::string s = " The packet: ";
    if (i.opcode != 0 || i.check != Check::AckTimeout) s += std::string(wire::opcode_name(i.opcode)) + ", ";
    return s + "PSN " + std::to_string(i.psn) + ", between QP " + hex(i.qp_num) + " and QP " + hex(i.peer_qpn) + ".";
}

}  // namespace

const char* name_of(Rule r) noexcept {
    return text_of(r).name;
}
const char* name_of(Check c) noexcept {
    return text_of(c).name;
}

std::string names_of_attr_mask(uint32_t mask) {
    static constexpr struct {
        uint32_t bit;
        const char* name;
    } kBits[] = {
        {kState, "IBV_QP_STATE"},
        {kCurState, "IBV_QP_CUR_STATE"},
        {kEnSqdAsyncNotify, "IBV_QP_EN_SQD_ASYNC_NOTIFY"},
        {kAccessFlags, "IBV_QP_ACCESS_FLAGS"},
        {kPkeyIndex, "IBV_QP_PKEY_INDEX"},
        {kPort, "IBV_QP_PORT"},
        {kQkey, "IBV_QP_QKEY"},
        {kAv, "IBV_QP_AV"},
        {kPathMtu, "IBV_QP_PATH_MTU"},
        {kTimeout, "IBV_QP_TIMEOUT"},
        {kRetryCnt, "IBV_QP_RETRY_CNT"},
        {kRnrRetry, "IBV_QP_RNR_RETRY"},
        {kRqPsn, "IBV_QP_RQ_PSN"},
        {kMaxQpRdAtomic, "IBV_QP_MAX_QP_RD_ATOMIC"},
        {kAltPath, "IBV_QP_ALT_PATH"},
        {kMinRnrTimer, "IBV_QP_MIN_RNR_TIMER"},
        {kSqPsn, "IBV_QP_SQ_PSN"},
        {kMaxDestRdAtomic, "IBV_QP_MAX_DEST_RD_ATOMIC"},
        {kPathMigState, "IBV_QP_PATH_MIG_STATE"},
        {kCap, "IBV_QP_CAP"},
        {kDestQpn, "IBV_QP_DEST_QPN"},
        {kRateLimit, "IBV_QP_RATE_LIMIT"},
    };
    std::string out;
    for (const auto& b : kBits)
        if ((mask & b.bit) != 0) out += (out.empty() ? "" : " | ") + std::string(b.name);
    return out;
}

std::string to_sentence(const Explanation& e) {
    std::string s = e.where.empty() ? std::string() : e.where + ": ";
    s += text_of(e.rule).text;
    if (!e.attribute.empty()) s += " (" + e.attribute + ")";
    if (!e.given.empty() && !e.required.empty())
        s += ": " + e.given + " was given, required: " + e.required;
    else if (!e.given.empty())
        s += ": " + e.given + " was given";
    else if (!e.required.empty() && e.required != e.attribute)
        s += ": required: " + e.required;
    s += ".";
    if (!e.advice.empty()) s += " What to do: " + e.advice + ".";
    return s;
}

std::string to_sentence(const Incident& i) {
    if (i.by_program)
        return qp_text(i) + " went from " + name_of(i.from) + " to " + name_of(i.to) + ", as the program asked.";
    std::string s =
        qp_text(i) + (i.is_responder ? " (as responder)" : " (as requester)") + ": " + text_of(i.check).text;
    if (i.check == Check::NakReceived) {
        const auto syndrome = wire::Syndrome::decode(i.aeth_syndrome);
        if (syndrome && syndrome->kind == wire::SyndromeKind::Nak) {
            if (syndrome->nak_code() == wire::NakCode::RemoteAccessError)
                s += " 'remote access error': rkey, bounds or rights at the peer's memory region";
            if (syndrome->nak_code() == wire::NakCode::InvalidRequest)
                s += " 'invalid request': the peer's QP does not allow it, or its receive buffer was too small";
            if (syndrome->nak_code() == wire::NakCode::RemoteOperationalError)
                s += " 'remote operational error': the peer could not use its own receive request";
        }
    }
    if (i.check == Check::AckTimeout || i.check == Check::RnrRetries || i.check == Check::SequenceRetries)
        s += " (" + std::to_string(i.retries) + " retries)";
    if (i.key != 0)
        s += ", " + std::to_string(i.length) + " bytes at " + hex(i.va) + " with key " + hex(i.key);
    else if (i.length != 0)
        s += ", a message of " + std::to_string(i.length) + " bytes";
    s += ".";
    if (i.has_packet) s += packet_text(i);
    if (i.status != WcStatus::Success)
        s += std::string(" Request ") + std::to_string(i.wr_id) + " completes with IBV_WC_" + name_of(i.status) + ".";
    if (i.to != i.from) s += std::string(" The QP goes from ") + name_of(i.from) + " to " + name_of(i.to) + ".";
    return s;
}

}  // namespace simverbs::hca
