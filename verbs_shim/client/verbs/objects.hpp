// The verbs objects as this library keeps them. Each begins with the public struct that the program holds, so that a
// pointer to one is a pointer to the other.
#pragma once

#include <infiniband/verbs.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "verbs_shim/client/verbs/handle_table.hpp"
#include "verbs_shim/client/verbs/lock.hpp"
#include "verbs_shim/protocol/messages.hpp"

namespace simverbs::client::verbs {

struct Qp;
struct Cq;
struct Srq;

struct Context {
    struct verbs_context verbs;  ///< the program's ibv_context is verbs.context
    uint64_t epoch = 0;          ///< connection::epoch() in which it was opened
    uint32_t handle = 0;
    const protocol::DeviceInfo* info = nullptr;
    uint32_t device = 0;  ///< index in the hello's devices
    uint64_t async_key = 0;
    /// Opened by a child of the fork that inherited this context: what needs nothing but a device still works there.
    uint32_t child_handle = 0;
    uint64_t child_epoch = 0;
    std::atomic<bool> fatal_told{false};  ///< IBV_EVENT_DEVICE_FATAL has been handed out
    HandleTable<Qp> qps;                  ///< by QP number
    HandleTable<Cq> cqs;
    HandleTable<Srq> srqs;

    ibv_context* ibv() noexcept { return &verbs.context; }
};

inline Context* to_context(ibv_context* c) noexcept {
    auto* const v = reinterpret_cast<verbs_context*>(reinterpret_cast<uint8_t*>(c) - offsetof(verbs_context, context));
    return reinterpret_cast<Context*>(v);
}

/// A ring in the arena as its client side uses it.
struct Ring {
    protocol::RingHeader* header = nullptr;
    uint8_t* slots = nullptr;
    uint32_t mask = 0;
    uint32_t stride = 0;

    [[nodiscard]] uint8_t* slot(uint32_t index) const noexcept {
        return slots + static_cast<size_t>(index & mask) * stride;
    }
};

/// Where the ring lies; false if the reference does not fit into the arena.
bool attach_ring(const protocol::RingRef& ref, Ring& ring) noexcept;

struct Pd {
    ibv_pd ibv;
    Pd* protection = nullptr;  ///< of a parent domain: the PD that it stands for
    std::atomic<uint32_t> parents{0};
};

struct Td {
    ibv_td ibv;
    std::atomic<uint32_t> parents{0};
};

/// A PD with a thread domain and allocators; for the server it is its PD.
struct ParentDomain {
    Pd pd;
    Td* td = nullptr;
};

/// Device memory: the adapter's, kept in the process.
struct Dm {
    ibv_dm ibv;
    void* memory = nullptr;
    uint64_t length = 0;
    uint32_t context = 0;  ///< handle of the context that it was made in
    uint64_t epoch = 0;    ///< of its process
};

struct Mr {
    ibv_mr ibv;
    unsigned access = 0;
    uint32_t segment = 0;   ///< of memory shared with the server; 0: none
    bool is_plain = false;  ///< registered memory of the program: neither null nor device memory
};

struct Mw {
    ibv_mw ibv;
};

struct Ah {
    ibv_ah ibv;
};

struct Xrcd {
    ibv_xrcd ibv;
    uint32_t handle = 0;
};

struct CompChannel {
    ibv_comp_channel ibv;
    uint32_t handle = 0;
    uint64_t key = 0;  ///< shared object that is bumped with every event
};

struct Cq {
    ibv_cq_ex ibv;  ///< begins as ibv_cq does
    Cq* next_in_table = nullptr;
    uint32_t table_key = 0;

    Lock lock;
    Ring ring;
    uint32_t consumed = 0;
    bool single_threaded = false;
    Qp* last_qp = nullptr;  ///< of the last completion: most CQs serve one QP

    // Rule 5: how often this CQ was found empty with no post and no sleep in between and nothing new to see.
    uint32_t empty_polls = 0;
    uint64_t posts_seen = 0;
    uint64_t visible_seen = 0;
    uint64_t sleeps_seen = 0;
    char wait_name[32] = {};                ///< what its waits are called in reports, once it has waited
    std::atomic<uint32_t> empty_streak{0};  ///< wall clock: looks for a dead server now and then

    const protocol::CqSlot* current = nullptr;  ///< between start_poll and end_poll
    uint32_t events_handed_out = 0;             ///< completion events (under ibv.mutex)
    uint32_t async_handed_out = 0;              ///< async events (under ibv.mutex)

    ibv_cq* cq() noexcept { return reinterpret_cast<ibv_cq*>(&ibv); }
};

inline Cq* to_cq(ibv_cq* c) noexcept {
    return reinterpret_cast<Cq*>(c);
}
inline Cq* to_cq(ibv_cq_ex* c) noexcept {
    return reinterpret_cast<Cq*>(c);
}

struct Srq {
    ibv_srq ibv;
    Srq* next_in_table = nullptr;
    uint32_t table_key = 0;

    Lock lock;
    Ring ring;
    uint32_t posted = 0;
    std::atomic<uint32_t> completed{0};  ///< receives whose completion was polled
    uint32_t max_wr = 0;
    uint32_t max_sge = 0;
    uint32_t srq_num = 0;
    uint32_t async_handed_out = 0;
};

inline Srq* to_srq(ibv_srq* s) noexcept {
    return reinterpret_cast<Srq*>(s);
}

/// State of an ibv_wr_start … ibv_wr_complete batch.
struct WrBatch {
    uint32_t count = 0;   ///< WQEs built so far
    int error = 0;        ///< the first thing that went wrong: the whole batch fails
    bool locked = false;  ///< holds send_lock (not on a dead context)
    protocol::SendSlot* current = nullptr;
};

struct IndirectionTable;

struct Qp {
    ibv_qp_ex ibv;  ///< begins with ibv_qp
    Qp* next_in_table = nullptr;
    uint32_t table_key = 0;

    Lock send_lock;
    Ring sq;
    uint32_t sq_posted = 0;
    uint32_t sq_kept = 0;                 ///< behind them in the ring, of no doorbell yet: see is_soft_roce
    std::atomic<uint32_t> sq_retired{0};  ///< moved by whoever polls the send CQ
    uint32_t max_send_wr = 0, max_send_sge = 0, max_inline = 0;
    bool sq_sig_all = false;
    bool has_wr_api = false;
    uint64_t send_ops = 0;  ///< ibv_qp_create_send_ops_flags
    WrBatch batch;

    Lock recv_lock;
    Ring rq;
    uint32_t rq_posted = 0;
    std::atomic<uint32_t> rq_retired{0};
    uint32_t max_recv_wr = 0, max_recv_sge = 0;

    uint32_t async_handed_out = 0;
    uint32_t ece_options = 0;  ///< as ibv_set_ece asked
    // An RSS QP only.
    IndirectionTable* table = nullptr;
    uint64_t hash_fields = 0;
    uint8_t hash_key[40] = {};

    ibv_qp* qp() noexcept { return &ibv.qp_base; }
    Context* context() noexcept { return to_context(ibv.qp_base.context); }
};

inline Qp* to_qp(ibv_qp* q) noexcept {
    return reinterpret_cast<Qp*>(q);
}

/// A work queue is a raw packet QP without a send queue, which the program does not see.
struct Wq {
    ibv_wq ibv;
    ibv_qp* qp = nullptr;
    uint32_t users = 0;  ///< entries of indirection tables
};
inline Wq* to_wq(ibv_wq* w) noexcept {
    return reinterpret_cast<Wq*>(w);
}

struct IndirectionTable {
    ibv_rwq_ind_table ibv;
    uint32_t users = 0;  ///< RSS QPs
    uint32_t size = 0;
    Wq* queues[protocol::kMostQueues] = {};
};
inline IndirectionTable* to_table(ibv_rwq_ind_table* t) noexcept {
    return reinterpret_cast<IndirectionTable*>(t);
}
inline Qp* to_qp(ibv_qp_ex* q) noexcept {
    return reinterpret_cast<Qp*>(q);
}

}  // namespace simverbs::client::verbs
