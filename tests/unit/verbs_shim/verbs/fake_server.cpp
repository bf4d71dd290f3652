#include "tests/unit/verbs_shim/verbs/fake_server.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace simverbs::test {

using namespace protocol;

FakeServer::FakeServer(uint64_t layout_hash) : layout_hash_(layout_hash) {
    static std::atomic<int> instances{0};
    path_ = "/tmp/simverbs-fake-" + std::to_string(getpid()) + "-" + std::to_string(++instances);
    lab_fd_ = memfd_create("lab", MFD_CLOEXEC);
    arena_fd_ = memfd_create("arena", MFD_CLOEXEC);
    if (ftruncate(lab_fd_, sizeof(LabShared)) != 0 || ftruncate(arena_fd_, kArenaBytes) != 0) std::abort();
    lab_ = static_cast<LabShared*>(mmap(nullptr, sizeof(LabShared), PROT_READ | PROT_WRITE, MAP_SHARED, lab_fd_, 0));
    arena_ = static_cast<uint8_t*>(
        mmap(nullptr, kArenaBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, arena_fd_, 0));
    lab_->magic = kMagic;
    lab_->version = kProtocolVersion;
    lab_->layout_hash = layout_hash_;
    lab_->clock_mode = ClockMode::Wall;
    lab_->realtime_at_zero_ns = 1'700'000'000'000'000'000;
    lab_->explain = 1;
    lab_->server_alive.store(1);
    listener_ = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path_.c_str(), sizeof address.sun_path - 1);
    if (bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 || listen(listener_, 8) != 0) {
        std::abort();
    }
    threads_.emplace_back([this] { accept_loop(); });
}

FakeServer::~FakeServer() {
    die();
    munmap(lab_, sizeof(LabShared));
    munmap(arena_, kArenaBytes);
    close(lab_fd_);
    close(arena_fd_);
}

void FakeServer::die() {
    if (dead_.exchange(true)) return;
    shutdown(listener_, SHUT_RDWR);
    {
        const std::lock_guard guard(mutex_);
        for (const int fd : clients_) shutdown(fd, SHUT_RDWR);
        for (const int fd : event_fds_) close(fd);
        event_fds_.clear();
    }
    for (size_t i = 0; i < threads_.size(); ++i) threads_[i].join();
    close(listener_);
    unlink(path_.c_str());
}

std::vector<std::string> FakeServer::explanations() {
    const std::lock_guard guard(mutex_);
    return explanations_;
}

void FakeServer::accept_loop() {
    for (;;) {
        const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        if (fd < 0) return;
        const std::lock_guard guard(mutex_);
        clients_.push_back(fd);
        threads_.emplace_back([this, fd] { serve(fd); });
    }
}

void FakeServer::serve(int fd) {
    alignas(8) uint8_t message[kMaxMessage], reply[kMaxMessage];
    while (recv(fd, message, sizeof message, 0) > 0) {
        std::vector<int> fds;
        std::memset(reply, 0, sizeof reply);
        iovec iov{reply, 0};
        {
            const std::lock_guard guard(mutex_);
            iov.iov_len = answer(message, reply, fds);
        }
        alignas(cmsghdr) uint8_t control[CMSG_SPACE(2 * sizeof(int))] = {};
        msghdr m{};
        m.msg_iov = &iov;
        m.msg_iovlen = 1;
        if (!fds.empty()) {
            m.msg_control = control;
            m.msg_controllen = CMSG_SPACE(fds.size() * sizeof(int));
            cmsghdr* const c = CMSG_FIRSTHDR(&m);
            c->cmsg_level = SOL_SOCKET;
            c->cmsg_type = SCM_RIGHTS;
            c->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
            std::memcpy(CMSG_DATA(c), fds.data(), fds.size() * sizeof(int));
        }
        sendmsg(fd, &m, MSG_NOSIGNAL);
        for (const int sent : fds) {
            if (sent != lab_fd_ && sent != arena_fd_) close(sent);
        }
    }
    close(fd);
}

ServerRing FakeServer::make_ring(char kind, uint32_t handle, uint32_t entries, uint32_t stride) {
    uint32_t capacity = 1;
    while (capacity < entries) capacity *= 2;
    const RingRef ref{(arena_used_ + 63) / 64 * 64, capacity, (stride + 15) / 16 * 16};
    arena_used_ = ref.offset + sizeof(RingHeader) + uint64_t{ref.capacity} * ref.stride;
    auto* const header = new (arena_ + ref.offset) RingHeader{};
    header->capacity = ref.capacity;
    header->stride = ref.stride;
    return rings_[key(kind, handle)] = ServerRing{header, ref};
}

int FakeServer::make_event_fd() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) std::abort();
    event_fds_.push_back(ends[1]);
    return ends[0];
}

void FakeServer::complete(uint32_t cq_handle, const CqSlot& slot) {
    const ServerRing ring = cq(cq_handle);
    const uint32_t produced = ring.header->produced.load();
    ring.slot<CqSlot>(produced) = slot;
    ring.header->produced.store(produced + 1, std::memory_order_release);
}

void FakeServer::write_event_of(int client_fd, const ChannelEvent& event) {
    struct stat wanted, found;
    fstat(client_fd, &wanted);
    for (const int fd : event_fds_) {
        if (fstat(fd, &found) == 0 && found.st_ino == wanted.st_ino &&
            write(fd, &event, sizeof event) == sizeof event) {
            return;
        }
    }
    std::abort();
}

namespace {

template <typename Reply>
Reply& as(uint8_t* reply) {
    return *new (reply) Reply{};
}

template <typename Request>
const Request& of(const uint8_t* message) {
    return *reinterpret_cast<const Request*>(message);
}

void fill_device(DeviceInfo& d) {
    std::strcpy(d.name, "mlx5_0");
    std::strcpy(d.netdev, "eth0");
    d.node_guid = 0x0102030405060708;
    d.num_ports = 1;
    d.link_layer = IBV_LINK_LAYER_ETHERNET;
    d.vendor_id = 0x02c9;
    d.vendor_part_id = 4123;
    d.post_send_ps = 100'000;
    d.poll_empty_ps = 10'000;
    d.down_latency_ps = 300'000;
}

}  // namespace

size_t FakeServer::answer(const uint8_t* message, uint8_t* reply, std::vector<int>& fds) {
    const auto& h = of<RequestHeader>(message);
    ++counts_[static_cast<size_t>(h.op)];
    size_t bytes = sizeof(ReplyHeader);
    int error = 0;
    const bool may_fail = h.op != Op::Hello && h.op != Op::Explain;
    if (may_fail) error = std::exchange(next_error, 0);
    as<ReplyHeader>(reply);
    if (error == 0) {
        switch (h.op) {
            case Op::Hello: {
                auto& r = as<HelloReply>(reply);
                r.num_devices = 1;
                fill_device(r.devices[0]);
                fds = {lab_fd_, arena_fd_};
                bytes = sizeof r;
                break;
            }
            case Op::OpenDevice: {
                auto& r = as<OpenDeviceReply>(reply);
                r.context = ++handles_;
                fds = {make_event_fd()};
                bytes = sizeof r;
                break;
            }
            case Op::QueryDevice: {
                auto& r = as<QueryDeviceReply>(reply);
                r.attr.orig_attr.max_qp_wr = 32768;
                r.attr.phys_port_cnt_ex = 1;
                bytes = sizeof r;
                break;
            }
            case Op::QueryPort: {
                auto& r = as<QueryPortReply>(reply);
                r.attr.state = IBV_PORT_ACTIVE;
                r.attr.gid_tbl_len = 4;
                r.attr.pkey_tbl_len = 1;
                r.attr.link_layer = IBV_LINK_LAYER_ETHERNET;
                bytes = sizeof r;
                break;
            }
            case Op::QueryGid: {
                auto& r = as<QueryGidReply>(reply);
                const auto& q = of<DeviceRequest>(message);
                if (q.index < 2) {  // the same IPv4 address as RoCE v1 and v2, then empty entries
                    const uint8_t gid[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 10, 0, 0, 1};
                    std::memcpy(r.gid.raw, gid, sizeof gid);
                    r.gid_type = q.index == 0 ? IBV_GID_TYPE_ROCE_V1 : IBV_GID_TYPE_ROCE_V2;
                }
                bytes = sizeof r;
                break;
            }
            case Op::QueryPkey:
                as<QueryPkeyReply>(reply).pkey = 0xFFFF;
                bytes = sizeof(QueryPkeyReply);
                break;
            case Op::AllocPd:
            case Op::CreateAh:
                as<HandleReply>(reply).handle = ++handles_;
                bytes = sizeof(HandleReply);
                break;
            case Op::RegMr:
            case Op::ReregMr: {
                auto& r = as<RegMrReply>(reply);
                r.handle = ++handles_;
                r.lkey = 0x100 + handles_;
                r.rkey = 0x900 + handles_;
                bytes = sizeof r;
                break;
            }
            case Op::CreateCompChannel: {
                auto& r = as<CompChannelReply>(reply);
                r.handle = ++handles_;
                fds = {make_event_fd()};
                bytes = sizeof r;
                break;
            }
            case Op::CreateCq: {
                auto& r = as<CreateCqReply>(reply);
                r.handle = ++handles_;
                r.ring = make_ring('c', r.handle, of<CreateCqRequest>(message).cqe, sizeof(CqSlot)).ref;
                r.cqe = r.ring.capacity;
                bytes = sizeof r;
                break;
            }
            case Op::CreateSrq: {
                auto& r = as<CreateSrqReply>(reply);
                r.handle = ++handles_;
                r.srq_num = 77;
                r.attr = of<CreateSrqRequest>(message).attr;
                r.ring = make_ring('q', r.handle, r.attr.max_wr, sizeof(RecvSlot) + 16 * r.attr.max_sge).ref;
                bytes = sizeof r;
                break;
            }
            case Op::CreateQp: {
                auto& r = as<CreateQpReply>(reply);
                const auto& q = of<CreateQpRequest>(message);
                r.handle = r.qp_num = 0x100 + ++handles_;
                r.cap = q.cap;
                const uint32_t payload = std::max(q.cap.max_send_sge * 16, q.cap.max_inline_data);
                r.sq = make_ring('s', r.qp_num, q.cap.max_send_wr, sizeof(SendSlot) + payload).ref;
                if (q.srq == 0) {
                    r.rq = make_ring('r', r.qp_num, q.cap.max_recv_wr, sizeof(RecvSlot) + 16 * q.cap.max_recv_sge).ref;
                }
                bytes = sizeof r;
                break;
            }
            case Op::ModifyQp: {
                const auto& q = of<ModifyQpRequest>(message);
                if ((q.mask & IBV_QP_STATE) != 0) sq(q.handle).header->state.store(q.attr.qp_state);
                break;
            }
            case Op::QueryQp:
                bytes = sizeof(as<QueryQpReply>(reply));
                break;
            case Op::QuerySrq:
                bytes = sizeof(as<QuerySrqReply>(reply));
                break;
            case Op::Explain:
                explanations_.emplace_back(of<ExplainRequest>(message).text);
                break;
            case Op::AllocMw:
            case Op::OpenXrcd:
            case Op::AllocNullMr:
            case Op::AllocDm:
            case Op::RegDmMr:
            case Op::OpenQp:
            case Op::OpenCm:
            case Op::CommandCm:
            case Op::CloseCm:
            case Op::CreateFlow:
            case Op::DestroyFlow:
            case Op::OpenGpus:
            case Op::UseGpu:
            case Op::RegDmaBufMr:
                error = EOPNOTSUPP;
                break;
            case Op::CloseDevice:
            case Op::DeallocPd:
            case Op::DeregMr:
            case Op::DestroyCompChannel:
            case Op::ResizeCq:
            case Op::DestroyCq:
            case Op::DestroyQp:
            case Op::ModifySrq:
            case Op::DestroySrq:
            case Op::DestroyAh:
            case Op::AttachMcast:
            case Op::DetachMcast:
            case Op::DeallocMw:
            case Op::CloseXrcd:
            case Op::ReadCounter:
            case Op::ReserveSlot:
            case Op::Resolve:
            case Op::UnshareMemory:
            case Op::AdviseMr:
            case Op::FreeDm:
            case Op::kCount:
                break;
        }
    }
    auto& header = *reinterpret_cast<ReplyHeader*>(reply);
    header.error = error;
    header.sequence = h.sequence;
    header.bytes = static_cast<uint16_t>(bytes);
    header.num_fds = static_cast<uint16_t>(fds.size());
    return bytes;
}

}  // namespace simverbs::test
