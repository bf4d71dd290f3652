// What the two halves of the shim see of each other in shared memory. Plain data only: no pointers, fixed widths,
// every index is checked by the server before use.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace simverbs::protocol {

inline constexpr uint32_t kMagic = 0x53565242;  // "SVRB"
inline constexpr uint32_t kProtocolVersion = 5;

enum class ClockMode : uint32_t { Virtual = 0, Wall = 1 };

// ---------------------------------------------------------------------------------------------------------------
// The turn protocol (virtual clock): exactly one party runs at a time, the server or one thread of one program.
// ---------------------------------------------------------------------------------------------------------------

/// Whose move it is, in ThreadSlot::turn (a futex word).
enum class Turn : uint32_t {
    Free = 0,      ///< the slot belongs to nobody
    Reserved = 1,  ///< allocated for a thread or child that has not arrived yet
    Waiting = 2,   ///< the thread has given up its turn (see yield) and sleeps on this word
    Running = 3,   ///< the thread has the turn
    Lost = 4,      ///< asleep in something unknown: lost its turn, rejoins at its next call
    Gone = 5,      ///< the thread has ended
};

/// Why a thread gave up its turn.
enum class Yield : uint32_t {
    Horizon = 0,  ///< its clock reached the horizon: runnable at its clock
    Wait = 1,     ///< waits for what `wait` says
    Control = 2,  ///< a request lies on the control socket: answered when it is this thread's move; the server adds its
                  ///< cost (DeviceInfo::control_ps for device requests) to clock_ps, then the thread is runnable
    Exit = 3,     ///< the thread ends; with kSlotProcessEnds the whole process does (the server waits until it is dead)
    Arrived = 4,  ///< a new thread or process image is ready for its first turn
};

/// One thing that ends a wait.
enum class WaitKind : uint32_t {
    None = 0,
    Object =
        1,  ///< shared object `key` has a value different from `value`: ready at max(clock, its stamp + latency_ps)
    External = 2,  ///< file descriptor `key` of the thread's process is ready for poll events `value`: the lab cannot
                   ///< know when
};

struct WaitItem {
    WaitKind kind = WaitKind::None;
    uint32_t pad = 0;
    uint64_t key = 0;
    uint64_t value = 0;
    int64_t latency_ps = 0;
};

inline constexpr uint32_t kMaxWaitItems = 64;

/// Wait::flags
enum WaitFlag : uint32_t {
    kWaitVisible =
        1,  ///< any CQE, remote write, event for the thread's process also ends the wait (poll and memory spinning)
    kWaitReadsClock =
        2,  ///< a spinner that has read a clock since its last progress: stays runnable in growing steps (rule 5)
    kWaitMemory = 4,  ///< proven memory spinner (rule 7): each packet of a message wakes it, not only the last
};

struct Wait {
    uint32_t flags = 0;
    uint32_t num_items = 0;
    int64_t deadline_ps = 0;  ///< INT64_MAX: none
    WaitItem items[kMaxWaitItems];
    char what[64] = {};  ///< for the stall report: "recv on 10.0.0.1:18515 from 10.0.0.2", "poll_cq of CQ 3", …
};

inline constexpr uint32_t kNoItem = 0xFFFFFFFF;

/// ThreadSlot::slot_flags, written by the thread's side.
enum SlotFlag : uint32_t {
    kSlotInterrupted = 1,  ///< a signal handler of the program must run: ends a Wait at once, at the thread's clock (or
                           ///< the latest clock that was granted so far, if later); the client clears it
    kSlotProcessEnds = 2,  ///< with Yield::Exit: exit, _exit or a fatal signal: the whole process, not only this thread
};

/// The realtime signal with which the server asks a burning thread to look at itself (rules 7 and 8), by tgkill, after
/// it has incremented ThreadSlot::probe_request: SIGRTMAX - 3 of glibc, by number because SIGRTMAX is not a constant.
/// Hidden from programs.
inline constexpr int kProbeSignal = 61;

/// The first line changes hands with the turn, and whoever waits looks at it; what a running thread writes all the time
/// lies in the second one.
struct alignas(64) ThreadSlot {
    std::atomic<uint32_t> turn{0};  ///< Turn; futex word. A reserver whose pthread_create or fork failed sets Free
    uint32_t process = 0;           ///< index into LabShared::processes; of a Reserved slot already the child's
    int32_t tid = 0;
    uint32_t yield = 0;                ///< Yield
    std::atomic<uint32_t> sleeps{0};   ///< 1 while the thread sleeps on `turn`: a grant must wake it
    std::atomic<uint32_t> core{0};     ///< 1 + where the thread ran when it gave up its turn; 0: unknown
    uint32_t grant = 0;                ///< set at a grant: the how manieth of the lab it is (a hint)
    alignas(64) int64_t clock_ps = 0;  ///< the thread's clock; the server moves it forward at a grant
    int64_t horizon_ps = 0;            ///< set at a grant: beyond it the thread must yield first
    int64_t oldest_post_ps =
        0;  ///< stamp of the first post since the grant, INT64_MAX if none: clock may not pass it + latency
    uint32_t woken_by =
        kNoItem;  ///< set at a grant that ends a Wait: index of the item; kNoItem: deadline, visible or clock step
    uint32_t woken_visible = 0;        ///< set at a grant: something became visible to the process since the last grant
    std::atomic<uint32_t> in_shim{0};  ///< >0 while inside an interposed call: the probe handler keeps out
    uint32_t probe_request = 0;        ///< counts how often the server asked the burning thread to look at itself
    std::atomic<uint32_t> slot_flags{0};  ///< SlotFlag
    Wait wait;
};

/// Kinds of verbs calls and other things that --stats counts, per process.
enum class Stat : uint32_t {
    ControlRequests,
    PostSend,
    PostSendWr,
    PostRecv,
    PostRecvWr,
    PostSrqRecv,
    PollCq,
    PollCqEmpty,
    PollCqWc,
    ReqNotifyCq,
    ClockReads,
    RdtscTraps,
    MemorySpinTraps,
    Yields,
    Waits,
    DataPathSyscalls,
    SocketCalls,
    RegMr,
    PinnedPages,
    DoorbellsRung,
    kCount
};

struct alignas(64) ProcessEntry {
    std::atomic<uint32_t> used{0};
    int32_t pid = 0;
    uint32_t host = 0;                 ///< index of the simulated host
    uint32_t program = 0;              ///< place on the command line; children carry their ancestor's
    std::atomic<uint32_t> exposed{0};  ///< 1 once a QP is in RTR or later (rule 6)
    std::atomic<uint32_t> dma_writable{
        0};  ///< 1 once memory is registered that DMA may write (memory spinning is possible)
    uint64_t stats[static_cast<size_t>(Stat::kCount)] = {};
};

/// A shared object that can be waited for: TCP stream direction, listener, datagram socket, pipe, channel fd, child, …
/// `value` only grows; `stamp_ps` is the clock of whoever last bumped it. Open addressing on `key` (0 = empty slot).
struct SharedObject {
    std::atomic<uint64_t> key{0};
    std::atomic<uint64_t> value{0};
    std::atomic<int64_t> stamp_ps{0};
    std::atomic<uint64_t> aux{0};   ///< meaning belongs to the key's kind (e.g. bytes consumed, closed flags)
    std::atomic<uint32_t> refs{0};  ///< TcpStream, Listener, Inode: open ends that may still bump it
    std::atomic<uint32_t> last_process{
        0};  ///< process index + 1 that last held such an end; when it dies the server ends the stream
};

/// The last changes of a shared object: who streams without a pause must not hold up whoever waits for the first of it.
/// Made by whoever bumps, under the virtual clock one at a time.
struct ObjectHistory {
    static constexpr uint32_t kChanges = 16;
    struct Change {
        std::atomic<uint64_t> value{0};  ///< after it
        std::atomic<int64_t> stamp_ps{0};
    };
    std::atomic<uint32_t> made{0};  ///< free-running; the newest is at (made - 1) modulo kChanges
    uint32_t pad = 0;
    Change changes[kChanges];

    void add(uint64_t value, int64_t stamp_ps) noexcept {
        const uint32_t at = made.load(std::memory_order_relaxed);
        changes[at % kChanges].value.store(value, std::memory_order_relaxed);
        changes[at % kChanges].stamp_ps.store(stamp_ps, std::memory_order_relaxed);
        made.store(at + 1, std::memory_order_release);
    }

    /// Stamp of the change that brought the value beyond `seen`: of the oldest one known if that is forgotten,
    /// `otherwise` if none is known.
    [[nodiscard]] int64_t beyond(uint64_t seen, int64_t otherwise) const noexcept {
        const uint32_t end = made.load(std::memory_order_acquire);
        int64_t stamp_ps = otherwise;
        for (uint32_t back = 1; back <= kChanges && back <= end; ++back) {
            const Change& c = changes[(end - back) % kChanges];
            if (c.value.load(std::memory_order_relaxed) <= seen) break;
            stamp_ps = c.stamp_ps.load(std::memory_order_relaxed);
        }
        return stamp_ps;
    }
};

inline constexpr uint32_t kMaxThreads = 1024;
inline constexpr uint32_t kMaxProcesses = 1024;
inline constexpr uint32_t kMaxObjects = 1 << 16;
inline constexpr uint32_t kMaxHosts = 4096;

struct HostEntry {
    char name[32] = {};
    uint32_t address = 0;  ///< 10.0.hi.lo in host byte order; underneath it is 127.L.hi.lo
    uint32_t num_devices = 0;
    std::atomic<uint32_t> next_ephemeral_port{0};
    uint32_t pad = 0;
};

/// The lab page: one per lab, made by the server, mapped by every process of the lab.
struct LabShared {
    uint32_t magic = 0;
    uint32_t version = 0;
    uint64_t layout_hash = 0;
    ClockMode clock_mode = ClockMode::Virtual;
    uint32_t lab_block = 0;  ///< L of 127.L.0.0/16
    uint64_t seed = 0;
    int64_t realtime_at_zero_ns = 0;       ///< CLOCK_REALTIME when simulated time is 0
    int64_t monotonic_at_zero_ns = 0;      ///< CLOCK_MONOTONIC, _RAW, BOOTTIME likewise
    uint64_t tsc_khz = 0;                  ///< virtual TSC rate; /proc/cpuinfo agrees
    std::atomic<int64_t> wall_time_ps{0};  ///< wall mode: simulated time reached
    std::atomic<uint32_t> server_word{
        0};  ///< futex: bumped by a thread that gives up its turn, and by wall-mode doorbells
    std::atomic<uint32_t> server_sleeps{0};
    std::atomic<uint32_t> server_core{0};   ///< 1 + where the server ran at the last grant; 0: unknown
    std::atomic<uint32_t> holder{0};        ///< slot that was granted the turn last
    std::atomic<uint32_t> server_alive{0};  ///< 0 after the server died or ended: calls fail, waits end
    std::atomic<uint32_t> stdout_dirty{0};
    uint32_t explain = 0;
    uint32_t num_hosts = 0;
    std::atomic<uint32_t> num_slots{0};  ///< slots [0, num_slots) have ever been used
    std::atomic<uint32_t> num_processes{0};
    HostEntry hosts[kMaxHosts];
    ThreadSlot slots[kMaxThreads];
    ProcessEntry processes[kMaxProcesses];
    SharedObject objects[kMaxObjects];
    ObjectHistory histories[kMaxObjects];  ///< of the object in the same place
};

// ---------------------------------------------------------------------------------------------------------------
// The data path: one arena per process (a sparse memfd made by the server), rings inside it.
// ---------------------------------------------------------------------------------------------------------------

inline constexpr uint64_t kArenaBytes = uint64_t{8} << 30;  // sparse
inline constexpr uint32_t kDoorbells = 1 << 15;

enum class DoorbellKind : uint16_t { Send = 1, Recv = 2, SrqRecv = 3, ArmCq = 4, ArmCqSolicited = 5 };

struct Doorbell {
    int64_t stamp_ps = 0;
    uint32_t object = 0;  ///< QP number, SRQ handle or CQ handle
    DoorbellKind kind = DoorbellKind::Send;
    uint16_t count = 0;  ///< WQEs posted by this doorbell (Send, Recv, SrqRecv)
};
static_assert(sizeof(Doorbell) == 16);

/// First page of the arena. Producers: the process (under a client-side lock); consumer: the server.
struct alignas(64) ArenaHeader {
    std::atomic<uint64_t> produced{0};
    alignas(64) std::atomic<uint64_t> consumed{0};
    alignas(64) Doorbell doorbells[kDoorbells];
};

/// A ring of fixed-stride slots inside the arena: SQ, RQ, SRQ, CQ. Counters are free-running, modulo 2^32, and go on
/// over a RESET of the QP. The process writes `produced` of SQ, RQ and SRQ and `consumed` of a CQ, the server
/// `produced` of a CQ and every `state`. `consumed` of SQ, RQ and SRQ is the process's own (WQEs retired, see
/// CqSlot::queue_tail); the server has copied a WQE out of its slot before its completion can be seen.
struct alignas(64) RingHeader {
    std::atomic<uint32_t> produced{0};
    uint32_t capacity = 0;  ///< slots, a power of two
    uint32_t stride = 0;    ///< bytes a slot, a multiple of 16
    uint32_t pad = 0;
    alignas(64) std::atomic<uint32_t> consumed{0};
    std::atomic<uint32_t> state{0};  ///< SQ: QP state (ibv_qp_state) for post checks; CQ: 1 = overrun, in error
    std::atomic<uint64_t> aux{0};
};

/// RingHeader::aux of a CQ: how long (in ps) a thread that is about to arm it, empty, waits first for a completion,
/// which then comes between its last poll and the arming; 0, the rule: not at all. The process sets this bit when it
/// has been so.
inline constexpr uint64_t kArmingHeld = uint64_t{1} << 63;

/// Where a ring lies in the arena.
struct RingRef {
    uint64_t offset = 0;  ///< of the RingHeader; slots follow it at once
    uint32_t capacity = 0;
    uint32_t stride = 0;
};

struct WireSge {
    uint64_t addr = 0;
    uint32_t length = 0;
    uint32_t lkey = 0;
};

/// A slot of the SQ: this header, then `num_sge` WireSge, or `inline_bytes` bytes if kInline is set.
struct SendSlot {
    uint64_t wr_id = 0;
    int64_t stamp_ps = 0;
    uint32_t opcode = 0;      ///< ibv_wr_opcode
    uint32_t send_flags = 0;  ///< ibv_send_flags
    uint32_t imm_or_rkey = 0;
    uint32_t num_sge = 0;
    uint32_t inline_bytes = 0;
    uint32_t rkey = 0;
    uint64_t remote_addr = 0;
    uint64_t compare_add = 0;
    uint64_t swap = 0;
    uint32_t ah = 0, remote_qpn = 0, remote_qkey = 0, remote_srqn = 0;
    uint32_t mw_handle = 0, mw_rkey = 0, mw_mr_handle = 0,
             mw_access = 0;  ///< BIND_MW; the address range is remote_addr, compare_add
};
static_assert(sizeof(SendSlot) == 96);

/// A slot of an RQ or SRQ: this header, then `num_sge` WireSge.
struct RecvSlot {
    uint64_t wr_id = 0;
    uint32_t num_sge = 0;
    uint32_t pad = 0;
};

/// A slot of a CQ, written by the server when the completion becomes visible to the process.
struct CqSlot {
    uint64_t wr_id = 0;
    uint64_t timestamp = 0;  ///< completion timestamp in HCA clock ticks (ns)
    uint32_t status = 0, opcode = 0, vendor_err = 0, byte_len = 0, imm_or_rkey = 0, qp_num = 0, src_qp = 0;
    uint32_t queue_tail = 0;  ///< WQEs of the queue retired up to and including this one, modulo 2^32
    uint16_t pkey_index = 0, slid = 0;
    uint8_t wc_flags = 0, sl = 0, dlid_path_bits = 0, is_send = 0;
    uint32_t srq = 0;  ///< SRQ handle if the WQE came from one, else 0
    uint32_t pad = 0;
};
static_assert(sizeof(CqSlot) == 64);

/// What the server writes into a completion channel's or the async event fd.
struct ChannelEvent {
    uint32_t kind = 0;    ///< 0: CQ event; else 1 + ibv_event_type
    uint32_t object = 0;  ///< CQ handle, QPN, SRQ handle, port number
};

// ---------------------------------------------------------------------------------------------------------------

/// Hash over sizes and offsets: both halves must have been built from the same layout.
constexpr uint64_t layout_hash() noexcept {
    uint64_t h = 1469598103934665603ULL;
    for (const uint64_t v :
         {uint64_t{sizeof(LabShared)}, uint64_t{sizeof(ThreadSlot)}, uint64_t{sizeof(ProcessEntry)},
          uint64_t{sizeof(Wait)}, uint64_t{sizeof(SharedObject)}, uint64_t{sizeof(ObjectHistory)},
          uint64_t{sizeof(HostEntry)}, uint64_t{sizeof(ArenaHeader)}, uint64_t{sizeof(RingHeader)},
          uint64_t{sizeof(SendSlot)}, uint64_t{sizeof(RecvSlot)}, uint64_t{sizeof(CqSlot)},
          uint64_t{sizeof(ChannelEvent)}, uint64_t{offsetof(LabShared, slots)}, uint64_t{offsetof(LabShared, objects)},

          uint64_t{offsetof(ThreadSlot, clock_ps)}, uint64_t{offsetof(ThreadSlot, wait)}, uint64_t{kProtocolVersion}}) {
        h = (h ^ v) * 1099511628211ULL;
    }
    return h;
}

/// Keys of shared objects: the kind in the top byte, so that kinds never collide.
enum class ObjectKind : uint8_t {
    TcpStream = 1,  ///< one direction of a connection; id from the 4-tuple. value: bytes written, +1 at FIN/RST
    Listener = 2,   ///< value: connections queued; aux: accepted
    Datagram = 3,   ///< a UDP socket's port. value: datagrams queued
    Inode = 4,      ///< pipe, FIFO, UNIX socket, eventfd shared between lab processes. value: writes
    ChannelFd = 5,  ///< completion channel or async fd; id from the server. value: events written
    Process = 6,    ///< child exit; id = process index. value: 1 once it has ended
    ProcessSync =
        7,  ///< anything another thread of the process did that may release a waiter (unlock, signal, post, join)
    TcpConsumed =
        9,  ///< one direction of a connection: value counts what the receiver has read (a full send buffer drains)
    HostBusy = 8,  ///< id = host: bumped when the host's initial program first blocks or ends (rule 9, connect without
                   ///< listener)
    CmListener = 10,  ///< id = host, port space, port: bumped when an id of rdma_cm begins to listen there
    GpuQueue = 11,  ///< a stream of a GPU, or a process's host functions; id from the server. Bumped when somebody who
                    ///< waits may look again
};
constexpr uint64_t object_key(ObjectKind kind, uint64_t id) noexcept {
    return (uint64_t{static_cast<uint8_t>(kind)} << 56) | (id & 0x00FFFFFFFFFFFFFFULL);
}

/// Where the search for `key` in LabShared::objects begins; it goes on slot by slot (wrapping) to the key or to a slot
/// with key 0, which an inserter claims by a compare-and-swap of `key`. Slots are never emptied.
constexpr uint32_t object_slot(uint64_t key) noexcept {
    return static_cast<uint32_t>((key * 0x9E3779B97F4A7C15ULL) >> 48) & (kMaxObjects - 1);
}

}  // namespace simverbs::protocol
