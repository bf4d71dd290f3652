// Rings and doorbells of a lying program. Two connected RC QPs and a UD QP are made properly; then the input is what
// the program writes into its arena: slots, counters, doorbells.

#include <infiniband/verbs.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "tests/fuzz/detached_lab.hpp"
#include "verbs_shim/protocol/messages.hpp"
#include "verbs_shim/server/control.hpp"
#include "verbs_shim/server/doorbells.hpp"

namespace {

using namespace simverbs;
using protocol::Op;

alignas(4096) std::array<uint8_t, 65536> g_memory;

/// A program that behaves while it sets up.
class Program {
  public:
    explicit Program(fuzz::DetachedLab& detached)
        : detached_(detached), client_(detached.lab().add_detached_client(0)) {
        context_ = call<protocol::OpenDeviceReply>(Op::OpenDevice, protocol::DeviceRequest{}).context;
        pd_ = call<protocol::HandleReply>(Op::AllocPd, object(0)).handle;
        protocol::CreateCqRequest cq;
        cq.context = context_;
        cq.cqe = 16;
        cq_ = call<protocol::CreateCqReply>(Op::CreateCq, cq);
        protocol::RegMrRequest mr;
        mr.context = context_;
        mr.pd = pd_;
        mr.access =
            IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
        mr.addr = mr.iova = reinterpret_cast<uint64_t>(g_memory.data());
        mr.length = g_memory.size();
        mr_ = call<protocol::RegMrReply>(Op::RegMr, mr);
        protocol::CreateSrqRequest srq;
        srq.context = context_;
        srq.pd = pd_;
        srq.attr = {8, 2, 0};
        srq_ = call<protocol::CreateSrqReply>(Op::CreateSrq, srq);
        for (const auto& [type, with_srq] : {std::pair{IBV_QPT_RC, false}, {IBV_QPT_RC, true}, {IBV_QPT_UD, false}})
            add_qp(type, with_srq);
        for (size_t i = 0; i < qps_.size(); ++i) connect(qps_[i], qps_[i < 2 ? 1 - i : i].qp_num, i == 2);
    }
    ~Program() { detached_.lab().process_died(client_.process, 0); }
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    /// One thing that the program does to its memory.
    void misbehave(fuzz::Bytes& in) {
        const uint8_t action = in.byte();
        if (action % 8 == 0) return detached_.run(4);
        const uint8_t which = in.byte();
        protocol::Doorbell bell;
        bell.kind = static_cast<protocol::DoorbellKind>(in.byte() % 7);
        bell.count = in.byte() % 20;
        bell.stamp_ps = static_cast<int64_t>(in.byte()) << (in.byte() % 64);
        bell.object = handle_for(bell.kind, which);
        if (protocol::RingHeader* ring = ring_for(bell.kind, which)) {
            const uint32_t slots = std::min<uint32_t>(bell.count, ring->capacity);
            for (uint32_t i = 0; i < slots; ++i) write_slot(ring, ring->produced.load() + i, in);
            ring->produced.fetch_add(action % 8 == 1 ? in.byte() * 0x01010101U : slots);
        }
        auto& header = client_.arena->header();
        header.doorbells[header.produced.load() % protocol::kDoorbells] = bell;
        header.produced.fetch_add(action % 8 == 2 ? uint64_t{1} << (in.byte() % 64) : 1);
        const sim::SimTime now = detached_.lab().engine().frontier();
        (void)server::drain_doorbells(detached_.lab(), client_, now, now + sim::SimTime::us(1));
        detached_.run(1);
        (void)detached_.lab().apply_deliveries(client_, detached_.lab().engine().frontier() + sim::SimTime::us(10));
        if (action % 8 == 3) ring_at(cq_.ring)->consumed.fetch_add(in.byte());
    }

  private:
    template <class Reply, class Request>
    Reply call(Op op, Request request) {
        request.h.op = op;
        request.h.bytes = sizeof request;
        std::vector<uint8_t> message(sizeof request);
        std::memcpy(message.data(), static_cast<const void*>(&request), sizeof request);
        const auto answer =
            server::handle_request(detached_.lab(), client_, message, detached_.lab().engine().frontier());
        Reply reply{};
        if (answer.bytes.size() == sizeof reply)
            std::memcpy(static_cast<void*>(&reply), answer.bytes.data(), sizeof reply);
        return reply;
    }
    [[nodiscard]] protocol::ObjectRequest object(uint32_t handle) const {
        protocol::ObjectRequest request;
        request.context = context_;
        request.handle = handle;
        return request;
    }
    void add_qp(uint32_t type, bool with_srq) {
        protocol::CreateQpRequest request;
        request.context = context_;
        request.pd = pd_;
        request.send_cq = request.recv_cq = cq_.handle;
        request.srq = with_srq ? srq_.handle : 0;
        request.qp_type = type;
        request.cap = {16, 16, 2, 2, 64};
        qps_.push_back(call<protocol::CreateQpReply>(Op::CreateQp, request));
    }
    void modify(uint32_t handle, const ibv_qp_attr& attr, int mask) {
        protocol::ModifyQpRequest request;
        request.context = context_;
        request.handle = handle;
        request.mask = static_cast<uint32_t>(mask);
        request.attr = attr;
        (void)call<protocol::ReplyHeader>(Op::ModifyQp, request);
    }
    void connect(const protocol::CreateQpReply& qp, uint32_t peer, bool datagram) {
        ibv_qp_attr attr{};
        attr.qp_state = IBV_QPS_INIT;
        attr.port_num = 1;
        attr.qkey = 0x1111;
        attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
        modify(qp.handle, attr,
               IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | (datagram ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS));
        attr.qp_state = IBV_QPS_RTR;
        attr.path_mtu = IBV_MTU_1024;
        attr.dest_qp_num = peer;
        attr.max_dest_rd_atomic = 4;
        attr.min_rnr_timer = 1;
        attr.ah_attr.is_global = 1;
        attr.ah_attr.port_num = 1;
        attr.ah_attr.grh.hop_limit = 64;
        std::memcpy(attr.ah_attr.grh.dgid.raw, wire::gid_from_ipv4(0x0A000001).bytes.data(), 16);
        modify(qp.handle, attr,
               datagram ? IBV_QP_STATE
                        : IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                              IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
        attr.qp_state = IBV_QPS_RTS;
        attr.timeout = 1;
        attr.retry_cnt = attr.rnr_retry = 1;
        attr.max_rd_atomic = 4;
        modify(qp.handle, attr,
               datagram ? IBV_QP_STATE | IBV_QP_SQ_PSN
                        : IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                              IBV_QP_MAX_QP_RD_ATOMIC);
    }
    [[nodiscard]] protocol::RingHeader* ring_at(const protocol::RingRef& ref) const {
        if (ref.capacity == 0) return nullptr;
        return reinterpret_cast<protocol::RingHeader*>(reinterpret_cast<uint8_t*>(&client_.arena->header()) +
                                                       ref.offset);
    }
    [[nodiscard]] uint32_t handle_for(protocol::DoorbellKind kind, uint8_t which) const {
        if (which >= 0xF0) return which * 0x01010101U;
        switch (kind) {
            case protocol::DoorbellKind::Send:
            case protocol::DoorbellKind::Recv:
                return qps_[which % qps_.size()].handle;
            case protocol::DoorbellKind::SrqRecv:
                return srq_.handle;
            case protocol::DoorbellKind::ArmCq:
            case protocol::DoorbellKind::ArmCqSolicited:
                return cq_.handle;
        }
        return which;
    }
    [[nodiscard]] protocol::RingHeader* ring_for(protocol::DoorbellKind kind, uint8_t which) const {
        switch (kind) {
            case protocol::DoorbellKind::Send:
                return ring_at(qps_[which % qps_.size()].sq);
            case protocol::DoorbellKind::Recv:
                return ring_at(qps_[which % qps_.size()].rq);
            case protocol::DoorbellKind::SrqRecv:
                return ring_at(srq_.ring);
            case protocol::DoorbellKind::ArmCq:
            case protocol::DoorbellKind::ArmCqSolicited:
                return nullptr;
        }
        return nullptr;
    }
    /// A slot with keys and addresses that are often right, so that packets flow.
    void write_slot(protocol::RingHeader* ring, uint32_t index, fuzz::Bytes& in) const {
        uint8_t* slot = reinterpret_cast<uint8_t*>(ring + 1) + size_t{index & (ring->capacity - 1)} * ring->stride;
        const bool is_send = ring->stride >= sizeof(protocol::SendSlot);
        const protocol::WireSge sge{reinterpret_cast<uint64_t>(g_memory.data()) + in.byte() * 64U, in.byte() * 16U,
                                    mr_.lkey};
        if (is_send) {
            protocol::SendSlot s;
            s.opcode = in.byte() % 16;
            s.send_flags = in.byte() % 32;
            s.num_sge = in.byte() % 4;
            s.inline_bytes = in.byte();
            s.remote_addr = reinterpret_cast<uint64_t>(g_memory.data()) + in.byte() * 64U;
            s.rkey = in.byte() % 4 == 0 ? in.byte() : mr_.rkey;
            std::memcpy(slot, &s, sizeof s);
            std::memcpy(slot + sizeof s, &sge, sizeof sge);
        } else {
            protocol::RecvSlot r;
            r.num_sge = in.byte() % 4;
            std::memcpy(slot, &r, sizeof r);
            std::memcpy(slot + sizeof r, &sge, sizeof sge);
        }
        if (in.byte() % 4 == 0) slot[in.byte() % ring->stride] = in.byte();
    }

    fuzz::DetachedLab& detached_;
    server::Client& client_;
    uint32_t context_ = 0, pd_ = 0;
    protocol::CreateCqReply cq_{};
    protocol::RegMrReply mr_{};
    protocol::CreateSrqReply srq_{};
    std::vector<protocol::CreateQpReply> qps_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    fuzz::DetachedLab& detached = fuzz::DetachedLab::instance();
    {
        Program program(detached);
        fuzz::Bytes in(data, size);
        for (int actions = 0; actions < 128 && !in.empty(); ++actions) program.misbehave(in);
    }
    detached.run(256);
    return 0;
}
