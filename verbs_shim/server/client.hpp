// One program image in the lab: its socket, its memory, its verbs objects. A client can only ever name its own.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/hca/hca.hpp"
#include "verbs_shim/server/arena.hpp"
#include "verbs_shim/server/delivery.hpp"
#include "verbs_shim/server/unique_fd.hpp"

namespace simverbs::server {

/// One of the descriptors of the server that a client has it hold; counted as long as it lives.
class HeldDescriptor {
  public:
    HeldDescriptor() = default;
    explicit HeldDescriptor(std::shared_ptr<uint32_t> count) : count_(std::move(count)) { ++*count_; }
    HeldDescriptor(HeldDescriptor&&) noexcept = default;
    HeldDescriptor& operator=(HeldDescriptor&& other) noexcept {
        std::swap(count_, other.count_);
        return *this;
    }
    ~HeldDescriptor() {
        if (count_ != nullptr) --*count_;
    }

  private:
    std::shared_ptr<uint32_t> count_;
};

/// The write end of an event fd (completion channel or async events) and its shared object. Events that do not fit
/// into the pipe wait in `backlog`.
struct EventFd {
    UniqueFd write_end;
    uint64_t key = 0;
    std::vector<protocol::ChannelEvent> backlog;
    HeldDescriptor held;
};

struct ContextObject {
    uint32_t device = 0;  ///< index into the host's NICs
    hca::Hca* hca = nullptr;
    hca::OwnerId owner = 0;
    EventFd async;
};
struct PdObject {
    uint32_t context = 0;
    hca::PdHandle pd = 0;
};
struct MrObject {
    uint32_t context = 0;
    hca::MrHandle mr = 0;
    uint64_t addr = 0, length = 0, iova = 0;
    uint32_t access = 0, pd = 0;
    uint64_t pages = 0;
    uint32_t segment = 0;  ///< of shared memory that it holds; 0: none
    /// GPU memory: its space, the block that it lies in.
    host::AddressSpaceId gpu_space = 0;
    std::shared_ptr<void> gpu_block;
};
struct MwObject {
    uint32_t context = 0;
    hca::MrHandle mw = 0;
};
struct XrcdObject {
    uint32_t context = 0;
    hca::XrcdHandle xrcd = 0;
};
struct DmObject {
    uint32_t context = 0;
    hca::DmHandle dm = 0;
};
struct ChannelObject {
    uint32_t context = 0;
    EventFd events;
    uint32_t num_cqs = 0;
};
struct CqObject {
    uint32_t context = 0;
    hca::CqHandle cq = 0;
    uint32_t channel = 0;
    uint32_t entries = 0;
    Ring ring;
    uint32_t produced = 0;
    uint32_t consumed = 0;  ///< as last told to the HCA
};
struct SrqObject {
    uint32_t context = 0;
    hca::SrqHandle srq = 0;
    uint32_t pd = 0;
    uint32_t max_sge = 0;
    Ring ring;
    uint32_t taken = 0;
};
struct QpObject {
    uint32_t context = 0;
    uint32_t qp_num = 0;
    hca::QpType type = hca::QpType::Rc;
    hca::QpState state = hca::QpState::Reset;
    uint32_t pd = 0, send_cq = 0, recv_cq = 0, srq = 0;
    bool sq_sig_all = false;
    hca::QpCap cap;
    Ring sq, rq;                          ///< XRC_RECV has neither
    uint32_t sq_taken = 0, rq_taken = 0;  ///< WQEs handed to the HCA, modulo 2^32
    uint32_t sq_base = 0, rq_base = 0;    ///< what a ring's counts are ahead of the HCA's
};
struct FlowObject {
    uint32_t context = 0, qp = 0;
    uint32_t steering = 0;
};
struct AhObject {
    uint32_t context = 0;
    hca::AhHandle ah = 0;
    uint32_t pd = 0;
};

/// Objects of one kind by the handle that the client uses. Handles count up from 1 and are not reused soon.
template <class T>
class Table {
  public:
    static constexpr size_t kMost = 1U << 20;

    [[nodiscard]] T* find(uint32_t handle) {
        const auto it = objects_.find(handle);
        return it == objects_.end() ? nullptr : &it->second;
    }
    /// 0 if the client has too many.
    uint32_t add(T&& object) {
        if (objects_.size() >= kMost) return 0;
        while (last_ == 0 || objects_.contains(last_)) ++last_;
        objects_.emplace(last_, std::move(object));
        return last_++;
    }
    /// With a handle of the caller's choice; false if it is taken.
    bool add_as(uint32_t handle, T&& object) { return objects_.emplace(handle, std::move(object)).second; }
    void remove(uint32_t handle) { objects_.erase(handle); }
    [[nodiscard]] bool empty() const noexcept { return objects_.empty(); }
    [[nodiscard]] size_t size() const noexcept { return objects_.size(); }
    [[nodiscard]] auto begin() noexcept { return objects_.begin(); }
    [[nodiscard]] auto end() noexcept { return objects_.end(); }
    [[nodiscard]] auto erase(typename std::map<uint32_t, T>::iterator it) { return objects_.erase(it); }

  private:
    std::map<uint32_t, T> objects_;
    uint32_t last_ = 1;
};

struct GpuClient;

struct Client {
    UniqueFd socket;
    pid_t pid = 0;
    uint32_t process = 0;  ///< index into LabShared::processes
    uint32_t host = 0;
    uint32_t program = 0;
    std::string command;
    /// Where numactl has put it; kNearestMemory: nowhere.
    host::MemoryId cpu_node = host::kNearestMemory, memory_node = host::kNearestMemory;
    host::AddressSpaceId space = 0;
    std::unique_ptr<Arena> arena;

    std::shared_ptr<uint32_t> held_descriptors = std::make_shared<uint32_t>(0);
    Table<ContextObject> contexts;
    Table<PdObject> pds;
    Table<MrObject> mrs;
    Table<ChannelObject> channels;
    Table<CqObject> cqs;
    Table<SrqObject> srqs;
    Table<QpObject> qps;
    Table<AhObject> ahs;
    Table<MwObject> mws;
    Table<XrcdObject> xrcds;
    Table<DmObject> dms;
    Table<FlowObject> flows;
    std::shared_ptr<GpuClient> gpus;  ///< null: it uses none

    std::deque<std::vector<uint8_t>> early_requests;  ///< of threads whose move it was not
    DeliveryQueue deliveries;
    uint64_t visible_count = 0;    ///< deliveries applied so far
    uint64_t whole_count = 0;      ///< the same without parts of messages
    int64_t visible_stamp_ps = 0;  ///< stamp of the last one
    uint64_t doorbells_taken = 0;
    int64_t last_post_ps = 0;
    std::vector<uint32_t> unconsumed_cqs;  ///< CQs that may hold completions which the program has not taken
    uint32_t exposed_qps = 0;
    std::vector<uint8_t> wqe_slot;  ///< buffers of drain_doorbells
    std::vector<hca::Sge> wqe_sges;

    [[nodiscard]] hca::ControlContext by(const ContextObject& context, sim::SimTime now, hca::Explanation* why) const {
        return {context.owner, now, why};
    }
};

}  // namespace simverbs::server
