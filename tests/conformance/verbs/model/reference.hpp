// The reference model: two hosts, one queue pair each, and what verbs promises about them, step by step. No time, no
// packets on their way: `settle` lets everything that was posted come to its end at once. It is written to be read
// beside the specification, not to be fast, and shares nothing with models/hca but the vocabulary.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "models/hca/host_sink.hpp"
#include "models/hca/verbs_types.hpp"

namespace simverbs::test::model {

using namespace hca;

inline constexpr uint64_t kBase = 0x100000;  ///< where a host's memory begins
inline constexpr uint32_t kBytes = 8192;
inline constexpr uint32_t kMtu = 256;
inline constexpr uint32_t kSendQueue = 8, kReceiveQueue = 4, kMaxSge = 2, kInlineRoom = 16;  // as asked for
inline constexpr uint32_t kGrhBytes = 40;

struct Region {
    bool alive = false;
    uint32_t handle = 0, lkey = 0, rkey = 0, pd = 0;
    uint64_t addr = 0, iova = 0, length = 0;
    uint32_t access = 0;
};

struct Window {
    bool alive = false, bound = false;
    MwType type = MwType::Type1;
    uint32_t handle = 0, rkey = 0, pd = 0;
    size_t region = 0;
    uint64_t addr = 0, iova = 0, length = 0;
    uint32_t access = 0;
    uint32_t qpn = 0;  ///< type 2: the QP that bound it
};

struct Send {
    SendWr wr;  ///< its pointers are not used
    std::vector<Sge> sges;
    std::vector<uint8_t> inline_bytes;
};

struct Receive {
    uint64_t wr_id = 0;
    std::vector<Sge> sges;
};

struct Completion {
    uint64_t wr_id = 0;
    WcStatus status = WcStatus::Success;
    std::optional<WcStatus> or_else;  ///< with lost packets the answer itself may be lost: then the requester gives up
    bool is_send = true;
    bool solicited = false;
    // Meaningful only on success.
    WcOpcode opcode = WcOpcode::Send;
    std::optional<uint32_t> byte_len;
    uint8_t wc_flags = 0;
    uint32_t imm_or_rkey = 0;
};

struct Event {
    EventType type{};
    bool of_cq = false;
    friend bool operator==(const Event&, const Event&) = default;
};

struct QueuePair {
    bool alive = false;
    uint32_t qpn = 0;
    uint32_t inline_room = 0;  ///< as ibv_create_qp said
    QpState state = QpState::Reset;
    bool sq_sig_all = false;
    uint32_t access = 0, dest_qpn = 0, qkey = 0;
    uint32_t next_psn = 0, expected_psn = 0;
    uint8_t max_rd_atomic = 0, max_dest_rd_atomic = 0;
    bool communication_established = false;
    // UC: a message whose FIRST has come, and what is expected next.
    bool inbound = false, inbound_write = false;
    uint64_t inbound_at = 0;
    std::deque<Send> sends;
    std::deque<Receive> receives;
    std::optional<Receive> taken;  ///< a message fills it
};

struct Host {
    uint32_t pd[2] = {};
    uint32_t cq = 0, cq_capacity = 0;
    uint32_t unpolled = 0;
    bool overrun = false;
    enum class Arm : uint8_t { None, Solicited, Any } arm = Arm::None;
    std::array<Region, 4> regions;
    std::array<Window, 2> windows;
    QueuePair qp;
    std::vector<uint8_t> memory = std::vector<uint8_t>(kBytes);
    std::vector<uint8_t> unknown = std::vector<uint8_t>(kBytes);  ///< 1: verbs does not say what is there
    // Since the last comparison.
    std::vector<Completion> completions;
    std::vector<Event> events;
    uint32_t channel_events = 0;
};

/// What makes the network lose packets.
struct Losses {
    bool any = false;
    std::set<uint64_t> to_host[2];  ///< UC and UD: ordinals of packets of that direction, from 1
};

class Reference {
  public:
    Reference(QpType type, Losses losses) : type_(type), losses_(std::move(losses)) {}

    std::array<Host, 2> hosts;

    // Each gives the errno that the call must give.
    [[nodiscard]] int modify(size_t host, const QpAttr& attr, uint32_t mask);
    [[nodiscard]] int post_send(size_t host, const Send& send);
    [[nodiscard]] int post_receive(size_t host, const Receive& receive);
    [[nodiscard]] int may_deregister(size_t host, size_t region) const;
    void unbind(Window& window) const { window.bound = false; }
    void destroy_qp(size_t host) { hosts[host].qp = {}; }
    void arm(size_t host, bool solicited_only);

    /// Everything posted comes to its end.
    void settle();
    /// Will this host's send queue move at the next settle?
    [[nodiscard]] bool is_active(size_t host) const {
        const QueuePair& q = hosts[host].qp;
        const bool moves = q.state == QpState::Rts || q.state == QpState::Sqe || q.state == QpState::Err;
        return moves && !q.sends.empty();
    }
    [[nodiscard]] QpType type() const { return type_; }

  private:
    enum class Outcome : uint8_t { Done, NoAnswer };
    /// What came of one message at its receiver (RC): status of the sender's completion.
    using Verdict = WcStatus;

    // reference_objects.cpp
    [[nodiscard]] const Region* by_lkey(size_t host, uint32_t lkey) const;
    /// The memory behind a key, as offset into host memory, if the access is allowed.
    [[nodiscard]] std::optional<uint64_t> local_range(size_t host, const Sge& sge, uint64_t skip, uint64_t length,
                                                      uint32_t needed) const;
    [[nodiscard]] std::optional<uint64_t> remote_range(size_t host, uint32_t rkey, uint64_t va, uint64_t length,
                                                       uint32_t needed) const;
    [[nodiscard]] bool bind(size_t host, const SendWr& wr);
    [[nodiscard]] bool invalidate(size_t host, uint32_t rkey);
    void complete(size_t host, Completion completion);
    void complete_send(size_t host, const Send& send, WcStatus status, std::optional<WcStatus> or_else = {});
    void complete_receive(size_t host, Completion completion);
    void enter_error(size_t host);
    void flush_sends(size_t host);
    void flush_receives(size_t host);
    void fail_receiver(size_t host, std::optional<WcStatus> receive_status, std::optional<EventType> event);
    [[nodiscard]] bool take_receive(size_t host);

    // reference_transport.cpp
    void run_reliable(size_t host);
    void run_unreliable(size_t host);
    [[nodiscard]] std::optional<WcStatus> local_fault(size_t host, const Send& send) const;
    [[nodiscard]] bool reaches(size_t host) const;
    [[nodiscard]] Verdict deliver_reliable(size_t host, const Send& send);
    [[nodiscard]] Verdict deliver_message(size_t host, const Send& send);
    [[nodiscard]] Verdict deliver_read(size_t host, const Send& send);
    [[nodiscard]] Verdict deliver_atomic(size_t host, const Send& send);
    void deliver_uc(size_t host, const Send& send);
    void deliver_ud(size_t host, const Send& send);
    [[nodiscard]] bool lost(size_t to);
    /// The bytes of a message, with their unknown flags.
    struct Payload {
        std::vector<uint8_t> bytes, unknown;
    };
    [[nodiscard]] Payload gather(size_t host, const Send& send) const;
    void store(size_t host, uint64_t at, const Payload& from, uint64_t offset, uint64_t length);
    /// Fills SGEs from message offset `at` on; false if a key is bad on the way.
    [[nodiscard]] bool scatter(size_t host, const std::vector<Sge>& sges, uint64_t at, const Payload& from,
                               uint64_t offset, uint64_t length);
    Completion received(const Send& send, uint32_t bytes) const;

    QpType type_;
    Losses losses_;
    std::array<uint64_t, 2> packets_to_ = {};
};

[[nodiscard]] uint64_t length_of(const Send& send);
/// Other operations are posted, too, and fail when their turn comes.
[[nodiscard]] bool has_operation(QpType type, WrOpcode op);
[[nodiscard]] bool is_local(WrOpcode op);
[[nodiscard]] bool fills_sges(WrOpcode op);  ///< with the peer's answer
[[nodiscard]] bool takes_receive(WrOpcode op);

}  // namespace simverbs::test::model
