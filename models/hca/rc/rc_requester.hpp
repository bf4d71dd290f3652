// The requester of a reliable connection. A view: its state is in the Qp.
#pragma once

#include <cstdint>

#include "models/hca/device.hpp"
#include "models/wire/aeth_syndrome.hpp"

namespace simverbs::hca {

/// May the next message be started, or what does it wait for?
enum class StartVerdict : uint8_t { Start, WaitFence, WaitReads, WaitCredits, WaitPsns, WaitPace };

/// PSNs that may be unacknowledged at once: far below the 2^23 at which old and new would look alike.
inline constexpr int32_t kMaxUnacknowledged = 1 << 20;
/// A packet asks for an acknowledge at the latest after so many that did not. Rc: at the end of a message anyhow.
inline constexpr uint16_t kAckRequestInterval = 32;

/// Source: IBTA vol. 1, "Fence", "RDMA READ resources", "End-to-end flow control".
[[nodiscard]] constexpr StartVerdict decide_start(const Requester& r, const Message& m, uint8_t max_rd_atomic,
                                                  sim::SimTime now) noexcept {
    if (now < r.next_message_at) return StartVerdict::WaitPace;
    if ((m.send_flags & kFence) != 0 && r.reads_outstanding > 0) return StartVerdict::WaitFence;
    if (m.has_responses() && max_rd_atomic > 0 && r.reads_outstanding >= max_rd_atomic) return StartVerdict::WaitReads;
    const bool takes_receive = m.opcode == WrOpcode::Send || m.opcode == WrOpcode::SendWithImm ||
                               m.opcode == WrOpcode::SendWithInv || m.opcode == WrOpcode::RdmaWriteWithImm;
    // Without credits one message may go, to ask, while nothing is outstanding.
    const bool beyond = static_cast<int32_t>(r.ssn + 1 - r.credit_limit) > 0;
    if (takes_receive && r.credits_known && beyond && r.una != r.cur) return StartVerdict::WaitCredits;
    if (wire::Psn::distance(r.una_psn, r.next_psn) > kMaxUnacknowledged) return StartVerdict::WaitPsns;
    return StartVerdict::Start;
}

/// What a NAK code means for the requester.
enum class NakVerdict : uint8_t { GoBack, InvalidRequest, AccessError, OperationError, Ignore };
[[nodiscard]] constexpr NakVerdict decide_nak(uint8_t code) noexcept {
    switch (static_cast<wire::NakCode>(code)) {
        case wire::NakCode::PsnSequenceError:
            return NakVerdict::GoBack;
        case wire::NakCode::InvalidRequest:
            return NakVerdict::InvalidRequest;
        case wire::NakCode::RemoteAccessError:
            return NakVerdict::AccessError;
        case wire::NakCode::RemoteOperationalError:
            return NakVerdict::OperationError;
        case wire::NakCode::InvalidRdRequest:
            return NakVerdict::Ignore;
    }
    return NakVerdict::Ignore;
}

class RcRequester {
  public:
    RcRequester(Device& device, Qp& qp) noexcept : d_(device), qp_(qp), r_(qp.rq) {}

    // rc_requester_send.cpp
    /// Hands the next packet to the port, if there is one that may go.
    Pull pull(sim::SimTime now);
    /// A packet that asks for an answer is on the wire.
    void on_sent(sim::SimTime now);

    // rc_requester_ack.cpp
    void on_response(const wire::Packet& packet, const wire::OpcodeInfo& info, sim::SimTime now);
    void on_ack(const wire::Packet& packet, sim::SimTime now);

    // rc_requester_nak.cpp
    void on_nak(const wire::Packet& packet, wire::Syndrome syndrome, sim::SimTime now);
    void on_rnr_nak(const wire::Packet& packet, wire::Syndrome syndrome, sim::SimTime now);
    void on_rnr_timer(sim::SimTime now);

    // rc_requester_read_response.cpp
    void on_read_response(const wire::Packet& packet, const wire::OpcodeInfo& info, sim::SimTime now);
    void on_atomic_acknowledge(const wire::Packet& packet, sim::SimTime now);

    // rc_requester_timeout.cpp
    void on_ack_timer(sim::SimTime now);

    /// Sends again from the oldest unacknowledged packet on (go-back-N).
    void rewind(sim::SimTime now);

  private:
    // rc_congestion.cpp
    /// Whether congestion control lets a packet go now; if not, the QP becomes ready again when it does.
    [[nodiscard]] bool may_send_at_rate(sim::SimTime now);
    void pace(uint32_t wire_bytes, sim::SimTime now);

    void start_message(Message& m, sim::SimTime now);
    /// False if the next message must wait, or the QP has come to grief.
    [[nodiscard]] bool run_local(sim::SimTime now);
    void build_packet(Message& m, TxEntry& entry, uint32_t& dma_bytes);
    void add_headers(wire::Packet& packet, const Message& m, const wire::OpcodeInfo& info);
    /// Everything up to and including `psn` has arrived. False if a READ or atomic before it is still unanswered:
    /// then its answer was lost.
    bool acknowledge_through(wire::Psn psn, sim::SimTime now);
    void progress(sim::SimTime now);
    void retire_oldest(WcStatus status, sim::SimTime now);
    /// PSN of the next packet or response that the oldest message waits for.
    [[nodiscard]] wire::Psn oldest_psn();
    /// One more attempt; false (and the QP is in ERR) if there is none left.
    bool spend_retry(Check check, sim::SimTime now, const wire::Packet* packet);
    void take_credits(const wire::Packet& packet, wire::Syndrome syndrome);
    void fail_oldest(WcStatus status, Check check, const wire::Packet* packet, sim::SimTime now);
    /// The oldest READ or atomic whose response this could be, messages before it acknowledged; nullptr if none.
    Message* message_for_response(const wire::Packet& packet, sim::SimTime now);
    void response_lost(sim::SimTime now);
    [[nodiscard]] Port& port() noexcept { return *d_.ports[qp_.port_index]; }

    Device& d_;
    Qp& qp_;
    Requester& r_;
};

}  // namespace simverbs::hca
