// The control path: one request, one reply, on a SOCK_SEQPACKET UNIX socket, the shim's "system call". Attribute
// structs are rdma-core's public ones (<infiniband/verbs.h>, stable ABI) with pointers replaced by handles.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

#include "verbs_shim/protocol/shared_layout.hpp"

namespace simverbs::protocol {

/// Environment variables that carry a program into its lab.
inline constexpr char kEnvSocket[] = "SIMVERBS_SOCKET";    ///< path of the control socket
inline constexpr char kEnvHost[] = "SIMVERBS_HOST";        ///< name of the simulated host
inline constexpr char kEnvSlot[] = "SIMVERBS_SLOT";        ///< thread slot reserved for this process image
inline constexpr char kEnvProgram[] = "SIMVERBS_PROGRAM";  ///< place on the command line

/// On hosts with GPUs: the folder of the stand-ins for their libraries, in front in LD_LIBRARY_PATH.
inline constexpr char kEnvGpuLibraries[] = "SIMVERBS_GPU_LIBRARIES";

/// Request → reply of each Op; a message is exactly as long as its struct, also when the reply carries an error.
/// Destroy, dealloc and close, and what the table does not name, answer with ReplyHeader alone.
///   Hello HelloRequest → HelloReply · OpenDevice DeviceRequest → OpenDeviceReply · QueryDevice, QueryPort, QueryGid,
///   QueryPkey DeviceRequest → their reply (no context needed) · AllocPd ObjectRequest → HandleReply · RegMr, ReregMr
///   RegMrRequest → RegMrReply · CreateCompChannel ObjectRequest → CompChannelReply · CreateCq, ResizeCq
///   CreateCqRequest → CreateCqReply · CreateQp CreateQpRequest → CreateQpReply · ModifyQp ModifyQpRequest ·
///   QueryQp ObjectRequest → QueryQpReply · CreateSrq CreateSrqRequest → CreateSrqReply · ModifySrq ModifySrqRequest ·
///   QuerySrq ObjectRequest → QuerySrqReply · DestroyCq, DestroyQp, DestroySrq ObjectRequest → DestroyReply ·
///   CreateAh CreateAhRequest → HandleReply · AttachMcast, DetachMcast McastRequest · ReadCounter ReadCounterRequest →
///   ReadCounterReply · Explain ExplainRequest · ReserveSlot ReserveSlotRequest → ReserveSlotReply · Resolve
///   ResolveRequest → ResolveReply · AllocMw ObjectRequest → HandleReply (arg: rkey) · AllocNullMr ObjectRequest →
///   RegMrReply · AdviseMr AdviseMrRequest · AllocDm AllocDmRequest → HandleReply · RegDmMr RegDmMrRequest → RegMrReply
///   · OpenXrcd ObjectRequest → HandleReply · CreateFlow CreateFlowRequest → HandleReply · OpenQp OpenQpRequest →
///   OpenQpReply · OpenCm ObjectRequest → CmOpenReply · CommandCm CmCommandRequest → CmCommandReply · OpenGpus
///   ObjectRequest → OpenGpusReply · UseGpu GpuRequest → GpuReply · RegDmaBufMr RegDmaBufMrRequest → RegMrReply · all
///   others ObjectRequest.
/// A ring after ResizeCq: the completions not yet taken are in the new one, its counters go on.
enum class Op : uint16_t {
    Hello = 1,  ///< fds in the reply: lab page, arena
    OpenDevice,
    CloseDevice,
    QueryDevice,
    QueryPort,
    QueryGid,
    QueryPkey,
    AllocPd,
    DeallocPd,
    RegMr,
    ReregMr,
    DeregMr,
    CreateCompChannel,
    DestroyCompChannel,  ///< fd in the reply of create
    CreateCq,
    ResizeCq,
    DestroyCq,
    CreateQp,
    ModifyQp,
    QueryQp,
    DestroyQp,
    CreateSrq,
    ModifySrq,
    QuerySrq,
    DestroySrq,
    CreateAh,
    DestroyAh,
    AttachMcast,
    DetachMcast,
    AllocMw,
    DeallocMw,
    OpenXrcd,
    CloseXrcd,
    ReadCounter,    ///< a sysfs counter, made when it is opened
    Explain,        ///< a call failed in the client: tell it
    ReserveSlot,    ///< before pthread_create or fork: a slot for the new thread or process
    Resolve,        ///< host name → address, address → host name
    UnshareMemory,  ///< arg: a segment that the process has replaced by memory of its own
    AllocNullMr,
    AdviseMr,
    AllocDm,
    FreeDm,
    RegDmMr,
    OpenQp,
    OpenCm,     ///< /dev/infiniband/rdma_cm; fd in the reply: readable while an event waits
    CommandCm,  ///< a write to it
    CloseCm,    ///< handle: its last descriptor of the process is closed
    CreateFlow,
    DestroyFlow,
    OpenGpus,  ///< gpu_messages.hpp
    UseGpu,
    RegDmaBufMr,
    kCount
};

struct RequestHeader {
    uint32_t magic = kMagic;
    Op op = Op::Hello;
    uint16_t bytes = 0;  ///< of the whole message
    uint32_t sequence = 0;
    uint32_t slot = 0;     ///< thread slot of the caller
    int64_t clock_ps = 0;  ///< the caller's clock
};

struct ReplyHeader {
    uint32_t magic = kMagic;
    int32_t error = 0;  ///< 0 or an errno
    uint32_t sequence = 0;
    uint16_t bytes = 0;
    uint16_t num_fds = 0;
};

struct HelloRequest {
    RequestHeader h;
    uint32_t version = kProtocolVersion;
    int32_t pid = 0;
    uint64_t layout_hash = 0;
    char host[32] = {};
    uint32_t slot = kNoItem;  ///< from the environment; kNoItem: the server chooses
    uint32_t program = kNoItem;
    char command[128] = {};  ///< for messages: basename and first arguments
};

inline constexpr uint32_t kMaxDevicesPerHost = 16;

/// What the client must know of a device without asking again.
struct DeviceInfo {
    char name[64] = {};      ///< mlx5_0, simverbs0, …
    char netdev[16] = {};    ///< eth0 / ib0
    uint64_t node_guid = 0;  ///< big endian, as in ibv_device_attr
    uint32_t num_ports = 0;
    uint32_t link_layer = 0;  ///< IBV_LINK_LAYER_*
    uint32_t vendor_id = 0, vendor_part_id = 0;
    // CPU cost of the data path, charged to the thread's clock (virtual clock).
    int64_t post_send_ps = 0, post_wr_ps = 0, post_recv_ps = 0, poll_cq_ps = 0, poll_empty_ps = 0, inline_byte_ps = 0;
    int64_t control_ps = 0;       ///< cost of a control request
    int64_t memory_poll_ps = 0;   ///< noticing a changed cache line that the thread spins on
    int64_t down_latency_ps = 0;  ///< least latency from a post to anything another party can see (L)
};

struct HelloReply {
    ReplyHeader h;
    uint32_t process = 0;  ///< index into LabShared::processes
    uint32_t slot = 0;
    uint32_t host = 0;  ///< index into LabShared::hosts
    uint32_t num_devices = 0;
    char sysfs_root[108] = {};  ///< real directory that stands for /sys on this host (class/infiniband,
                                ///< class/infiniband_verbs, class/net, …)
    uint32_t explain = 0;
    DeviceInfo devices[kMaxDevicesPerHost];
};

struct DeviceRequest {
    RequestHeader h;
    uint32_t device = 0;
    uint32_t port = 0;
    uint32_t index = 0;
};
struct OpenDeviceReply {
    ReplyHeader h;
    uint32_t context = 0;
    uint32_t pad = 0;
    uint64_t async_key = 0;
};  ///< fd: async events (ChannelEvent records)
/// ibv_device_attr_ex and what is not in it.
struct QueryDeviceReply {
    ReplyHeader h;
    struct ibv_device_attr_ex attr;
};
struct QueryPortReply {
    ReplyHeader h;
    struct ibv_port_attr attr;
    uint32_t active_speed_ex = 0;
};
struct QueryGidReply {
    ReplyHeader h;
    union ibv_gid gid;
    uint32_t gid_type = 0;
    uint32_t ndev_ifindex = 0;
};  ///< gid_type: ibv_gid_type (0 IB, 1 RoCE v1, 2 RoCE v2)
struct QueryPkeyReply {
    ReplyHeader h;
    uint16_t pkey = 0;
};  ///< host byte order

/// Requests that name one object: destroy, dealloc, close, query.
struct ObjectRequest {
    RequestHeader h;
    uint32_t context = 0;
    uint32_t handle = 0;
    uint64_t arg = 0;
};
struct HandleReply {
    ReplyHeader h;
    uint32_t handle = 0;
    uint32_t arg = 0;
};

/// Memory of the process that the server may map as well: a registration lies over part of it.
/// The whole pages [begin, begin + length) are the first `length` bytes of a memfd that cannot shrink.
struct SharedRange {
    uint32_t segment = 0;  ///< the process's number for it; 0: nothing is shared
    int32_t fd = -1;       ///< the memfd in the process, to be fetched before the reply; -1: the server has it already
    uint64_t begin = 0, length = 0;
};

struct RegMrRequest {
    RequestHeader h;
    uint32_t context = 0, pd = 0, access = 0, flags = 0;  ///< flags: ibv_rereg_mr_flags for ReregMr
    uint64_t addr = 0, length = 0, iova = 0;
    uint32_t mr = 0;  ///< ReregMr
    uint32_t pad = 0;
    SharedRange shared;
};
/// ibv_reg_dmabuf_mr: bytes [offset, offset + length) of the dma-buf behind descriptor `fd` of the process.
struct RegDmaBufMrRequest {
    RequestHeader h;
    uint32_t context = 0, pd = 0, access = 0;
    int32_t fd = -1;
    uint64_t offset = 0, length = 0, iova = 0;
};
struct RegMrReply {
    ReplyHeader h;
    uint32_t handle = 0, lkey = 0, rkey = 0;
};

inline constexpr uint32_t kMostAdvisedRanges = 128;  ///< of one request; longer lists are several

struct AdviseMrRequest {
    RequestHeader h;
    uint32_t context = 0, pd = 0, advice = 0, num_sge = 0;
    WireSge sges[kMostAdvisedRanges] = {};
};
/// Device memory is kept in the process: [addr, addr + length).
struct AllocDmRequest {
    RequestHeader h;
    uint32_t context = 0, log_align_req = 0;
    uint64_t addr = 0, length = 0;
};
struct RegDmMrRequest {
    RequestHeader h;
    uint32_t context = 0, pd = 0, dm = 0, access = 0;
    uint64_t offset = 0, length = 0;
};

struct CompChannelReply {
    ReplyHeader h;
    uint32_t handle = 0;
    uint32_t pad = 0;
    uint64_t key = 0;
};  ///< fd: the channel's fd; key: its shared object

struct CreateCqRequest {
    RequestHeader h;
    uint32_t context = 0, cqe = 0, channel = 0 /* 0: none */, comp_vector = 0;
    uint32_t handle = 0 /* ResizeCq */, flags = 0;
};
struct CreateCqReply {
    ReplyHeader h;
    uint32_t handle = 0;
    uint32_t cqe = 0;
    RingRef ring;
};

struct CreateSrqRequest {
    RequestHeader h;
    uint32_t context = 0, pd = 0, srq_type = 0, cq = 0, xrcd = 0, pad = 0;
    struct ibv_srq_attr attr;
};
struct CreateSrqReply {
    ReplyHeader h;
    uint32_t handle = 0, srq_num = 0;
    struct ibv_srq_attr attr;
    RingRef ring;
};
struct ModifySrqRequest {
    RequestHeader h;
    uint32_t context = 0, handle = 0, mask = 0;
    struct ibv_srq_attr attr;
};
struct QuerySrqReply {
    ReplyHeader h;
    struct ibv_srq_attr attr;
};

struct CreateQpRequest {
    RequestHeader h;
    uint32_t context = 0, pd = 0, send_cq = 0, recv_cq = 0, srq = 0 /* 0: none */, qp_type = 0, sq_sig_all = 0,
             xrcd = 0;
    struct ibv_qp_cap cap;
    uint32_t source_qpn = 0, create_flags = 0;
};
struct CreateQpReply {
    ReplyHeader h;
    uint32_t handle = 0, qp_num = 0;
    struct ibv_qp_cap cap;
    RingRef sq, rq;
};
struct ModifyQpRequest {
    RequestHeader h;
    uint32_t context = 0, handle = 0, mask = 0;
    struct ibv_qp_attr attr;
};
struct QueryQpReply {
    ReplyHeader h;
    struct ibv_qp_attr attr;
    struct ibv_qp_cap cap;
    uint32_t sq_sig_all = 0;
};
struct OpenQpRequest {
    RequestHeader h;
    uint32_t context = 0, xrcd = 0, qp_num = 0, pad = 0;
};
struct OpenQpReply {
    ReplyHeader h;
    uint32_t handle = 0, pad = 0;
};
struct DestroyReply {
    ReplyHeader h;
    uint32_t events_reported = 0;
};

struct CreateAhRequest {
    RequestHeader h;
    uint32_t context = 0, pd = 0;
    struct ibv_ah_attr attr;
};
struct McastRequest {
    RequestHeader h;
    uint32_t context = 0, qp = 0;
    union ibv_gid gid;
    uint32_t lid = 0;
};

struct ReadCounterRequest {
    RequestHeader h;
    uint32_t device = 0, port = 0;
    char name[64] = {};
    uint32_t hw = 0;
};
struct ReadCounterReply {
    ReplyHeader h;
    uint64_t value = 0;
};
struct ExplainRequest {
    RequestHeader h;
    char text[480] = {};
};
/// Largest indirection table.
inline constexpr uint32_t kMostQueues = 128;

/// ibv_create_flow: its specs as one pattern over the frame's first bytes.
struct CreateFlowRequest {
    RequestHeader h;
    uint32_t context = 0, qp = 0;
    uint32_t type = 0;  ///< ibv_flow_attr_type
    uint16_t priority = 0, port = 0;
    uint8_t value[58] = {}, mask[58] = {};
    /// Of an RSS QP: its indirection table (QPs that stand for work queues), ibv_rx_hash_fields and Toeplitz key.
    uint32_t queues = 0;  ///< 0: it is none
    uint64_t hash_fields = 0;
    uint8_t hash_key[40] = {};
    uint32_t queue[kMostQueues] = {};
};

/// kind: 0 = thread of this process, 1 = child process
struct ReserveSlotRequest {
    RequestHeader h;
    uint32_t kind = 0;
    uint32_t pad = 0;
};
struct ReserveSlotReply {
    ReplyHeader h;
    uint32_t slot = 0;
    uint32_t pad = 0;
};
struct ResolveRequest {
    RequestHeader h;
    char name[64] = {};
    uint32_t address = 0;
};
struct ResolveReply {
    ReplyHeader h;
    uint32_t address = 0;
    char name[32] = {};
};

struct CmOpenReply {
    ReplyHeader h;
    uint32_t file = 0;  ///< names it in requests
    uint32_t pad = 0;
    uint64_t key = 0;  ///< its shared object
};
/// A command of <rdma/rdma_user_cm.h> as it was written, without its header. Addresses in it mean nothing to the
/// server: what the program gets comes back in the reply, the value of an option follows the command.
struct CmCommandRequest {
    RequestHeader h;
    uint32_t file = 0;
    uint32_t command = 0;  ///< RDMA_USER_CM_CMD_*
    uint32_t in_bytes = 0, out_bytes = 0;
    uint32_t extra = 0;  ///< MIGRATE_ID: the file that the id is in
    uint32_t pad = 0;
    uint8_t in[1024] = {};
};
struct CmCommandReply {
    ReplyHeader h;
    uint32_t out_bytes = 0;
    uint32_t pad = 0;
    /// Not 0: nobody listens at the target yet, which may still come (rule 9). To be asked again when either object
    /// changes: the listener's, or HostBusy.
    uint64_t hold_key = 0, hold_busy = 0;
    uint8_t out[1024] = {};
};

inline constexpr size_t kMaxMessage = 8192;

}  // namespace simverbs::protocol
