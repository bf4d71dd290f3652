// The control path: each request of a program → the HCA's API, checked; one function a request.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "verbs_shim/protocol/gpu_messages.hpp"
#include "verbs_shim/protocol/messages.hpp"
#include "verbs_shim/server/client.hpp"
#include "verbs_shim/server/lab.hpp"

namespace simverbs::server {

/// What goes back for one request.
struct ControlReply {
    std::vector<uint8_t> bytes;
    std::vector<UniqueFd> fds;
    int64_t cost_ps = 0;
    bool hang_up = false;  ///< the message is not of this protocol: no answer, the connection ends
};

/// Handles one message of `client`. `now` is the engine's frontier.
[[nodiscard]] ControlReply handle_request(Lab& lab, Client& client, std::span<const uint8_t> message, sim::SimTime now);

/// One request on its way through the handlers.
struct Call {
    Lab& lab;
    Client& client;
    sim::SimTime now;
    std::vector<UniqueFd> fds;
    int64_t cost_ps = 0;
    hca::Explanation why;
    int wanted_error = 0;  ///< not 0: a fault wants the request to fail so

    /// The context `handle` of the client, or nullptr; what it costs is charged from here on.
    ContextObject* context(uint32_t handle);
    [[nodiscard]] hca::ControlContext by(const ContextObject& context);
    [[nodiscard]] Nic& nic(const ContextObject& context) { return lab.hosts()[client.host].nics[context.device]; }
};

// One file each: control_device.cpp, control_memory.cpp, control_cq.cpp, control_srq.cpp, control_qp.cpp,
// control_cm.cpp, control_lab.cpp. All return 0 or an errno.
int open_device(Call&, const protocol::DeviceRequest&, protocol::OpenDeviceReply&);
int close_device(Call&, const protocol::ObjectRequest&, protocol::ReplyHeader&);
int query_device(Call&, const protocol::DeviceRequest&, protocol::QueryDeviceReply&);
int query_port(Call&, const protocol::DeviceRequest&, protocol::QueryPortReply&);
int query_gid(Call&, const protocol::DeviceRequest&, protocol::QueryGidReply&);
int query_pkey(Call&, const protocol::DeviceRequest&, protocol::QueryPkeyReply&);
int read_counter(Call&, const protocol::ReadCounterRequest&, protocol::ReadCounterReply&);

/// The program's PD, null if it has none of that handle on that context.
const PdObject* pd_in(Call& call, uint32_t handle, uint32_t context);
/// Gives a new memory region its handle, and the program its keys.
int keep_mr(Call& call, MrObject&& mr, const hca::MrKeys& keys, protocol::RegMrReply& reply);
int alloc_pd(Call&, const protocol::ObjectRequest&, protocol::HandleReply&);
int dealloc_pd(Call&, const protocol::ObjectRequest&, protocol::ReplyHeader&);
int reg_mr(Call&, const protocol::RegMrRequest&, protocol::RegMrReply&);
int rereg_mr(Call&, const protocol::RegMrRequest&, protocol::RegMrReply&);
int dereg_mr(Call&, const protocol::ObjectRequest&, protocol::ReplyHeader&);
int unshare_memory(Call&, const protocol::ObjectRequest&, protocol::ReplyHeader&);
int create_ah(Call&, const protocol::CreateAhRequest&, protocol::HandleReply&);
int destroy_ah(Call&, const protocol::ObjectRequest&, protocol::ReplyHeader&);

// control_window.cpp
int alloc_mw(Call&, const protocol::ObjectRequest&, protocol::HandleReply&);
int dealloc_mw(Call&, const protocol::ObjectRequest&, protocol::ReplyHeader&);
int alloc_null_mr(Call&, const protocol::ObjectRequest&, protocol::RegMrReply&);
int advise_mr(Call&, const protocol::AdviseMrRequest&, protocol::ReplyHeader&);
int alloc_dm(Call&, const protocol::AllocDmRequest&, protocol::HandleReply&);
int free_dm(Call&, const protocol::ObjectRequest&, protocol::ReplyHeader&);
int reg_dm_mr(Call&, const protocol::RegDmMrRequest&, protocol::RegMrReply&);
// control_xrc.cpp
/// Has the process CAP_NET_RAW, as the kernel asks for raw packets?
bool may_use_raw_packets(pid_t pid);
int create_flow(Call&, const protocol::CreateFlowRequest&, protocol::HandleReply&);
int destroy_flow(Call&, const protocol::ObjectRequest&, protocol::ReplyHeader&);
int open_xrcd(Call&, const protocol::ObjectRequest&, protocol::HandleReply&);
int close_xrcd(Call&, const protocol::ObjectRequest&, protocol::ReplyHeader&);
int open_qp(Call&, const protocol::OpenQpRequest&, protocol::OpenQpReply&);
/// Handles of QPs are their numbers, unless the process has one with that number on another device. 0: none is left.
uint32_t add_qp(Client& client, QpObject&& qp);

int create_channel(Call&, const protocol::ObjectRequest&, protocol::CompChannelReply&);
int destroy_channel(Call&, const protocol::ObjectRequest&, protocol::ReplyHeader&);
int create_cq(Call&, const protocol::CreateCqRequest&, protocol::CreateCqReply&);
int resize_cq(Call&, const protocol::CreateCqRequest&, protocol::CreateCqReply&);
int destroy_cq(Call&, const protocol::ObjectRequest&, protocol::DestroyReply&);

int create_srq(Call&, const protocol::CreateSrqRequest&, protocol::CreateSrqReply&);
int modify_srq(Call&, const protocol::ModifySrqRequest&, protocol::ReplyHeader&);
int query_srq(Call&, const protocol::ObjectRequest&, protocol::QuerySrqReply&);
int destroy_srq(Call&, const protocol::ObjectRequest&, protocol::DestroyReply&);

int create_qp(Call&, const protocol::CreateQpRequest&, protocol::CreateQpReply&);
int modify_qp(Call&, const protocol::ModifyQpRequest&, protocol::ReplyHeader&);
int query_qp(Call&, const protocol::ObjectRequest&, protocol::QueryQpReply&);
int destroy_qp(Call&, const protocol::ObjectRequest&, protocol::DestroyReply&);
int attach_mcast(Call&, const protocol::McastRequest&, protocol::ReplyHeader&);
int detach_mcast(Call&, const protocol::McastRequest&, protocol::ReplyHeader&);

int open_cm(Call&, const protocol::ObjectRequest&, protocol::CmOpenReply&);
int command_cm(Call&, const protocol::CmCommandRequest&, protocol::CmCommandReply&);
int close_cm(Call&, const protocol::ObjectRequest&, protocol::ReplyHeader&);

// gpu/control_gpu.cpp, gpu/control_gpu_region.cpp
int open_gpus(Call&, const protocol::ObjectRequest&, protocol::OpenGpusReply&);
int use_gpu(Call&, const protocol::GpuRequest&, protocol::GpuReply&);
int reg_dma_buf_mr(Call&, const protocol::RegDmaBufMrRequest&, protocol::RegMrReply&);
/// Is it an address of the memory of a GPU of the program's host?
[[nodiscard]] bool is_gpu_memory(Call& call, uint64_t address);
/// reg_mr for those addresses.
int reg_gpu_mr(Call&, ContextObject& context, const protocol::RegMrRequest&, protocol::RegMrReply&);

int explain_failure(Call&, const protocol::ExplainRequest&, protocol::ReplyHeader&);
int reserve_slot(Call&, const protocol::ReserveSlotRequest&, protocol::ReserveSlotReply&);
int resolve(Call&, const protocol::ResolveRequest&, protocol::ResolveReply&);

/// An event fd: the read end goes to the process.
struct NewEventFd {
    int error = 0;
    EventFd server_end;
    UniqueFd process_end;
};
/// EMFILE for a client that would leave too few descriptors to the others.
[[nodiscard]] NewEventFd make_event_fd(Lab& lab, const Client& client);

/// A string of a message that may lack its terminator.
template <size_t N>
[[nodiscard]] std::string bounded(const char (&text)[N]) {
    return std::string(text, strnlen(text, N));
}

/// In one line without control characters: it goes to somebody's terminal.
[[nodiscard]] inline std::string printable(std::string text) {
    for (char& c : text)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
    return text;
}

}  // namespace simverbs::server
