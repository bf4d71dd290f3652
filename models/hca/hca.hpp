// The host channel adapter: a verbs-level device and a node of the engine.
#pragma once

#include <array>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "models/hca/explanation.hpp"
#include "models/hca/hca_config.hpp"
#include "models/hca/host_sink.hpp"
#include "models/hca/management.hpp"
#include "models/hca/raw/steering.hpp"
#include "models/hca/verbs_types.hpp"
#include "models/host/host_complex.hpp"
#include "sim/node.hpp"
#include "sim/sim_time.hpp"

namespace simverbs::host {
class PayloadMover;
}
namespace simverbs::link {
struct PortWiring;
}
namespace simverbs::wire {
class PacketPool;
}

namespace simverbs::hca {

class Device;
class QpObserver;
class WorkSource;

/// Who asks for a control operation, when, and whether it wants to know why it was refused.
struct ControlContext {
    OwnerId owner = 0;
    /// The engine has run up to here: no event before `now` is pending.
    sim::SimTime now;
    /// If not null and the call fails, filled in. Nothing is formatted otherwise.
    Explanation* why = nullptr;
};

/// Outcome of a control call: `error` is 0 or an errno value; `value` means something only if it is 0.
template <class T>
struct Result {
    int error = 0;
    T value{};
    [[nodiscard]] bool ok() const noexcept { return error == 0; }
};

struct MrKeys {
    MrHandle handle = 0;
    uint32_t lkey = 0, rkey = 0;
};

struct MrSpec {
    PdHandle pd = 0;
    host::AddressSpaceId space = 0;
    uint64_t addr = 0, length = 0;
    uint64_t iova = 0;    ///< address that WRs use; equal to addr for ibv_reg_mr
    uint32_t access = 0;  ///< AccessFlags
    host::MemoryId memory = host::kNearestMemory;
};
/// ibv_rereg_mr flags.
enum RereqFlags : uint32_t { kChangeTranslation = 1, kChangePd = 2, kChangeAccess = 4 };

/// Where device memory is kept: the adapter has none of its own.
struct DmSpec {
    host::AddressSpaceId space = 0;
    uint64_t addr = 0, length = 0;
    uint32_t log_align_req = 0;
};
struct DmMrSpec {
    PdHandle pd = 0;
    DmHandle dm = 0;
    uint64_t offset = 0, length = 0;
    uint32_t access = 0;
};
/// ib_uverbs_advise_mr_advice.
enum class MrAdvice : uint8_t { Prefetch = 0, PrefetchWrite = 1, PrefetchNoFault = 2 };
/// The file behind an XRC domain; zeros: the domain is private.
struct XrcdFile {
    uint64_t device = 0, inode = 0;
    friend bool operator==(const XrcdFile&, const XrcdFile&) = default;
};

struct CqSpec {
    uint32_t entries = 0;                          ///< as the program asked; the CQ gets at least as many
    bool has_channel = false;                      ///< can be armed
    host::MemoryId memory = host::kNearestMemory;  ///< where its ring lies, next to the CPU that is interrupted
};

struct SrqSpec {
    PdHandle pd = 0;
    uint32_t max_wr = 0, max_sge = 0, srq_limit = 0;
    XrcdHandle xrcd = 0;  ///< 0: not an XRC SRQ
    CqHandle cq = 0;      ///< XRC: where receives complete
};
/// ibv_srq_attr_mask.
enum SrqAttrMask : uint32_t { kSrqMaxWr = 1, kSrqLimit = 2 };
struct SrqAttr {
    uint32_t max_wr = 0, max_sge = 0, srq_limit = 0;
};

struct QpInitAttr {
    QpType type = QpType::Rc;
    PdHandle pd = 0;
    CqHandle send_cq = 0, recv_cq = 0;
    SrqHandle srq = 0;    ///< 0: none
    XrcdHandle xrcd = 0;  ///< XRC_RECV only, which has no PD and no CQs
    QpCap cap;
    bool sq_sig_all = false;
    host::MemoryId memory = host::kNearestMemory;  ///< where its rings lie
};
struct CreatedQp {
    uint32_t qp_num = 0;
    QpCap cap;  ///< what was allocated: at least what was asked for
};

struct QpQuery {
    QpAttr attr;
    QpInitAttr init;
};

/// ibv_port_attr (names as there).
struct PortAttr {
    PortState state = PortState::Active;
    Mtu max_mtu = Mtu::Mtu4096, active_mtu = Mtu::Mtu4096;
    int gid_tbl_len = 0;
    uint32_t port_cap_flags = 0, max_msg_sz = 0, bad_pkey_cntr = 0, qkey_viol_cntr = 0;
    uint16_t pkey_tbl_len = 0, lid = 0, sm_lid = 0;
    uint8_t lmc = 0, max_vl_num = 0, sm_sl = 0, subnet_timeout = 0, init_type_reply = 0, active_width = 0,
            active_speed = 0, phys_state = 5;
    LinkLayer link_layer = LinkLayer::Ethernet;
    uint8_t flags = 0;
    uint16_t port_cap_flags2 = 0;
    uint32_t active_speed_ex = 0;
};

struct NamedCounter {
    const char* name;  ///< as in sysfs
    uint64_t value;
};

/// What a port has sent over its link and got from it. Bytes are byte times on the wire.
struct LinkCounts {
    uint64_t tx_packets = 0, tx_bytes = 0;
    uint64_t rx_packets = 0, rx_bytes = 0;
    uint64_t corrupt = 0;  ///< of rx_packets: discarded, bits were wrong or the payload cut off
    uint64_t pauses_received = 0;
    sim::SimTime paused_time;  ///< by pauses that have ended, summed over priorities
};

/// How a flow reaches its peer.
struct FlowPath {
    AhAttr ah;
    uint32_t dest_qpn = 0;
    Mtu mtu = Mtu::Mtu4096;
    uint32_t first_psn = 0;
    uint8_t timeout = 14, retry_cnt = 7, rnr_retry = 7, max_rd_atomic = 16;
};

/// More WRs of the same list follow: store, but ring no doorbell yet.
enum class Doorbell : uint8_t { Ring, Hold };

/// One adapter. Control calls and posts are made between windows by one driver (shim server, scenario, test); they
/// never block and take effect at ControlContext::now or, for the data path, when the doorbell arrives.
/// Handles are checked against their owner: somebody else's object is ENOENT (EINVAL where verbs says so).
class Hca final : public sim::Node {
  public:
    /// `sink` and `mover` may be null: flows without programs need neither. `config` is checked by its builder.
    Hca(const HcaConfig& config, HostSink* sink, host::PayloadMover* mover);
    ~Hca() override;

    // ---- engine
    void run_window(sim::SimTime end) override;
    [[nodiscard]] sim::SimTime next_event_time() const override;
    /// For the implementation: run me again at `t`, from inside a window.
    void wake_self(sim::SimTime t);

    [[nodiscard]] const HcaConfig& config() const noexcept;
    [[nodiscard]] const DeviceProfile& profile() const noexcept;
    /// Least time between a post and anything that it causes: the lookahead of a program on this HCA.
    [[nodiscard]] sim::SimTime downward_latency() const noexcept;

    // ---- device and ports. Port numbers count from 1.
    [[nodiscard]] const DeviceAttr& query_device() const noexcept;
    [[nodiscard]] Result<PortAttr> query_port(uint8_t port) const;
    [[nodiscard]] Result<GidEntry> query_gid(uint8_t port, uint32_t index) const;
    [[nodiscard]] Result<uint16_t> query_pkey(uint8_t port, uint32_t index) const;
    /// /sys/class/infiniband/<dev>/ports/<n>/counters. Data counters count 4-byte words, as there.
    [[nodiscard]] std::vector<NamedCounter> port_counters(uint8_t port) const;
    [[nodiscard]] std::vector<NamedCounter> hw_counters(uint8_t port) const;
    [[nodiscard]] LinkCounts link_counts(uint8_t port) const;

    // ---- what an administrator, a subnet manager or a broken cable changes: between windows, told to every context.
    /// IBV_EVENT_PORT_ACTIVE or IBV_EVENT_PORT_ERR where it becomes active or ceases to be. Packets are the link's
    /// matter.
    void set_port_state(uint8_t port, PortState state, sim::SimTime now);
    /// Entry `index` of the GID table becomes `gid`, or is removed (zeros). QPs that are connected go on.
    void change_gid(uint8_t port, uint32_t index, const Gid& gid, sim::SimTime now);
    /// Entry `index` of the P_Key table; QPs that use it have the new key at once. 0: the entry is removed.
    void change_pkey(uint8_t port, uint32_t index, uint16_t pkey, sim::SimTime now);
    /// What is connected goes on by the old LID.
    void change_lid(uint8_t port, uint16_t lid, sim::SimTime now);
    /// IBV_EVENT_SM_CHANGE, IBV_EVENT_CLIENT_REREGISTER and others that change nothing here; port 0: of the device.
    void raise_event(EventType type, uint8_t port, sim::SimTime now);

    // ---- protection domains, memory regions
    Result<PdHandle> alloc_pd(const ControlContext& by);
    int dealloc_pd(const ControlContext& by, PdHandle pd);  ///< EBUSY while used
    Result<MrKeys> reg_mr(const ControlContext& by, const MrSpec& spec);
    /// Returns the new keys; on failure the MR stays as it was.
    Result<MrKeys> rereg_mr(const ControlContext& by, MrHandle mr, uint32_t flags, const MrSpec& spec);
    int dereg_mr(const ControlContext& by, MrHandle mr);

    Result<MrKeys> alloc_null_mr(const ControlContext& by, PdHandle pd);
    /// Memory windows. A bind is a work request.
    Result<MrKeys> alloc_mw(const ControlContext& by, PdHandle pd, MwType type);
    int dealloc_mw(const ControlContext& by, MrHandle mw);
    /// On-demand paging: a hint that the range will be used.
    int advise_mr(const ControlContext& by, PdHandle pd, MrAdvice advice, std::span<const Sge> ranges);
    Result<DmHandle> alloc_dm(const ControlContext& by, const DmSpec& spec);
    int free_dm(const ControlContext& by, DmHandle dm);  ///< EBUSY while an MR lies in it
    Result<MrKeys> reg_dm_mr(const ControlContext& by, const DmMrSpec& spec);

    // ---- XRC domains. The kernel's rules for oflags: `create` is needed where the file has no domain yet.
    Result<XrcdHandle> open_xrcd(const ControlContext& by, const XrcdFile& file, bool create, bool exclusive);
    int close_xrcd(const ControlContext& by, XrcdHandle xrcd);  ///< EBUSY while an SRQ or QP was made through it

    // ---- completion queues
    Result<CqHandle> create_cq(const ControlContext& by, const CqSpec& spec);
    [[nodiscard]] Result<uint32_t> cq_capacity(const ControlContext& by, CqHandle cq) const;
    int resize_cq(const ControlContext& by, CqHandle cq, uint32_t entries);
    int destroy_cq(const ControlContext& by, CqHandle cq);  ///< EBUSY while a QP uses it
    /// It overruns beyond so many completions from now on, whatever it was made for. Not an owner's call.
    int limit_cq(CqHandle cq, uint32_t entries);
    /// Whether it waits for a completion to tell of, since when, and when the last one became visible.
    struct CqArming {
        bool is_armed = false;
        sim::SimTime armed_at, last_visible;
    };
    [[nodiscard]] CqArming cq_arming(CqHandle cq) const;
    /// Data path: the program armed the CQ at `t`. Completions that become visible after `t` count.
    int req_notify_cq(CqHandle cq, bool solicited_only, sim::SimTime t);
    /// Data path: the program has taken `count` more completions. Without this a CQ overruns.
    int cq_consumed(CqHandle cq, uint32_t count);

    // ---- shared receive queues
    Result<SrqHandle> create_srq(const ControlContext& by, SrqSpec& spec);  ///< writes back what was allocated
    int modify_srq(const ControlContext& by, SrqHandle srq, const SrqAttr& attr, uint32_t mask);
    [[nodiscard]] Result<SrqAttr> query_srq(const ControlContext& by, SrqHandle srq) const;
    int destroy_srq(const ControlContext& by, SrqHandle srq);

    // ---- queue pairs
    Result<CreatedQp> create_qp(const ControlContext& by, const QpInitAttr& init);
    /// Another handle to an XRC_RECV QP of the same domain. The QP goes with its last handle.
    int open_qp(const ControlContext& by, uint32_t qp_num, XrcdHandle xrcd);
    /// Work requests that this QP has ever been given: its completions' queue_tail counts them.
    struct QueueCounts {
        uint32_t sends = 0, receives = 0;
    };
    [[nodiscard]] QueueCounts queue_counts(uint32_t qp_num) const;
    int modify_qp(const ControlContext& by, uint32_t qp_num, const QpAttr& attr, uint32_t mask);
    [[nodiscard]] Result<QpQuery> query_qp(const ControlContext& by, uint32_t qp_num) const;
    int destroy_qp(const ControlContext& by, uint32_t qp_num);

    // ---- address handles, multicast
    Result<AhHandle> create_ah(const ControlContext& by, PdHandle pd, const AhAttr& attr);
    int destroy_ah(const ControlContext& by, AhHandle ah);
    int attach_mcast(const ControlContext& by, uint32_t qp_num, const Gid& gid, uint16_t lid);
    int detach_mcast(const ControlContext& by, uint32_t qp_num, const Gid& gid, uint16_t lid);

    // ---- flow steering to raw packet QPs. A QP with rules cannot be destroyed.
    Result<uint32_t> create_steering(const ControlContext& by, uint32_t qp_num, const SteeringRule& rule);
    int destroy_steering(const ControlContext& by, uint32_t id);

    /// Everything of a client that ended, in dependency order. Never fails.
    void release_all(OwnerId owner, sim::SimTime now);

    // ---- data path. `t` is the clock of the thread that posts; never before the engine's frontier.
    /// 0, EINVAL (state, opcode, SGEs, inline, AH, atomic address) or ENOMEM (queue full). Nothing is kept on error.
    int post_send(uint32_t qp_num, const SendWr& wr, sim::SimTime t, Doorbell doorbell = Doorbell::Ring,
                  Explanation* why = nullptr);
    int post_recv(uint32_t qp_num, const RecvWr& wr, sim::SimTime t, Explanation* why = nullptr);
    int post_srq_recv(SrqHandle srq, const RecvWr& wr, sim::SimTime t, Explanation* why = nullptr);

    // ---- scenario flows: QPs without rings, CQs or memory, fed by a WorkSource (see transport/work_source.hpp)
    /// A QP in RESET; `source` (not owned) may be null at the receiving end.
    uint32_t create_flow(QpType type, WorkSource* source);
    /// Connects a flow to its peer and starts it; both ends must be connected before the first message.
    int connect_flow(const ControlContext& by, uint32_t qp_num, const FlowPath& path);
    /// The source has work again at `t`.
    void wake_flow(uint32_t qp_num, sim::SimTime t);

    // ---- QP 1
    /// Who gets management datagrams, and events of its own, from now on (not owned); null: nobody.
    void set_management(ManagementAgent* agent) noexcept;
    /// The agent's next_time() has changed, outside of a window.
    void wake_management();
    /// For the agent, in a window or between two: sends a datagram from QP 1 of port `to.port_num` to the peer's. False
    /// if there is no such path.
    bool send_mad(const AhAttr& to, const std::array<uint8_t, kMadBytes>& bytes, sim::SimTime now);

    /// Turns HostSink::on_memory_written on or off for a space.
    void watch_memory(host::AddressSpaceId space, bool on);

    /// Wires port `port` to its link; called once by the fabric's builder. See models/link.
    void attach_port(uint8_t port, const link::PortWiring& wiring);

    /// What lies between this adapter and its host's memories from now on (not owned), where it is `agent`; without a
    /// call it is ideal. Before the first request.
    void attach_host(host::HostComplex& complex, host::AgentId agent);

    /// Where side records of packets come from; once, before the first packet. attach_port does it, too.
    void use_pool(wire::PacketPool& pool);

    /// Every packet carries its addresses from now on: captures need them. Before the first packet.
    void set_wire_detail(bool on);

    /// Who hears of QPs, posts and completions from now on (not owned); null: nobody. Before the first QP.
    void set_observer(QpObserver* observer) noexcept;

    /// What every QP waits for, one line each, for the stuck-state dump; empty if nothing is outstanding.
    [[nodiscard]] std::vector<std::string> outstanding_work() const;

    /// QPs that have nothing outstanding and wait for messages of their peers, one line each: what they have sent, how
    /// many receives wait.
    [[nodiscard]] std::vector<std::string> waiting_receives() const;

    /// Grows with every completion.
    [[nodiscard]] uint64_t progress() const noexcept;

    /// The implementation, for the parts of models/hca and its unit tests.
    [[nodiscard]] Device& device() noexcept { return *device_; }

  private:
    std::unique_ptr<Device> device_;
};

}  // namespace simverbs::hca
