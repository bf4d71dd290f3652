// Two sides with a QP each, A (requester) and B (responder), on the two adapters of one host, and a record of what
// they see: posts that failed, completions in order, async events, final states. One Rig is one case.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace verbs_cases {

inline constexpr int kAllAccess =
    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
inline constexpr size_t kBytes = 64 << 10;
/// The region that keys stand for ends here: the pages behind it are not registered.
inline constexpr size_t kRegistered = 32 << 10;
inline constexpr uint32_t kQkey = 0x11111111;

struct Options {
    ibv_qp_type type = IBV_QPT_RC;
    int timeout = 14, retry = 7, rnr_retry = 7;
    int rd_atomic = 4, dest_rd_atomic = 4;
    int mr_access = kAllAccess | IBV_ACCESS_MW_BIND;  ///< of B's region
    int qp_access = kAllAccess;                       ///< of B's QP
    ibv_qp_cap cap{31, 31, 4, 4, 64};
    int send_cqe = 127, recv_cqe = 127;
    bool srq = false;  ///< B's receives
    ibv_mtu mtu_of_a = IBV_MTU_1024;
};

inline Options of_type(ibv_qp_type type) {
    Options o;
    o.type = type;
    return o;
}

/// A work request; what is not said is right.
struct Send {
    uint64_t id = 1;
    ibv_wr_opcode opcode = IBV_WR_SEND;
    uint32_t length = 256;
    int sges = 1;
    uint64_t local = 0, remote = 0;  ///< offsets into the buffers
    unsigned flags = IBV_SEND_SIGNALED;
    std::optional<uint32_t> lkey = {}, rkey = {};
    uint32_t imm = 5;
    uint64_t add = 1;
    std::optional<uint32_t> qpn = {}, qkey = {};  ///< UD
    std::optional<uint64_t> remote_address = {};
};
struct Receive {
    uint64_t id = 100;
    uint32_t length = 4096;
    uint64_t at = 0;  ///< offset into the buffer
    std::optional<uint32_t> lkey = {};
};

struct Side {
    char name = 'A';
    ibv_context* context = nullptr;
    ibv_pd* pd = nullptr;
    ibv_mr* mr = nullptr;
    uint8_t* bytes = nullptr;
    ibv_comp_channel* channel = nullptr;
    ibv_cq *send_cq = nullptr, *recv_cq = nullptr;
    ibv_srq* srq = nullptr;
    ibv_qp* qp = nullptr;
    ibv_ah* ah = nullptr;
    ibv_qp_cap cap{};
    ibv_gid gid{};
    uint16_t lid = 0;
    uint32_t psn = 0x100000;
    int access = kAllAccess;
    std::vector<ibv_wc> seen;
};

/// A column's way to write lists.
std::string joined(const std::vector<std::string>& parts, const char* between);
std::string errno_name(int error);
const char* state_name(int state);

class Rig {
  public:
    explicit Rig(const Options& options = {});
    ~Rig();
    Rig(const Rig&) = delete;
    Rig& operator=(const Rig&) = delete;

    int send(Side& side, const Send& what);
    int receive(Side& side, const Receive& what);
    void sends(Side& side, uint64_t first, int count);
    void receives(Side& side, uint64_t first, int count, uint32_t length = 4096);
    /// A bind through ibv_bind_mw (type 1) on `side`.
    int bind(Side& side, ibv_mw* window, uint64_t id, uint64_t offset, uint64_t length, unsigned access);

    int bind_type_2(Side& side, ibv_mw* window, uint64_t id, uint32_t rkey, uint64_t offset, uint64_t length);

    /// Polls both sides for that long.
    void drain(int milliseconds = 20);
    void poll(Side& side);
    /// Lets time pass without looking at a CQ.
    static void wait(int milliseconds);
    /// Events of the completion channel since the last call.
    int cq_events(Side& side);
    /// ibv_modify_qp along the shortest way from RESET; `to` RESET, ERR, SQD and SQE directly.
    void ramp(Side& side, ibv_qp_state to);
    /// `change`: what is wrong with the attributes.
    int modify(Side& side, ibv_qp_state to, int more_mask = 0, void (*change)(ibv_qp_attr&) = nullptr);
    void note_modify(Side& side, ibv_qp_state to, int more_mask = 0, const char* from = nullptr);
    [[nodiscard]] int state_of(Side& side);
    /// Notes ibv_qp_attr::sq_draining.
    void note_draining(Side& side);
    /// Notes how many async events there have been.
    void note_events();
    void destroy_qp(Side& side);
    void note(std::string text) { notes.push_back(std::move(text)); }
    [[nodiscard]] std::string row(const std::string& name);

    Options options;
    Side a, b;
    std::vector<std::string> failed, events, notes;

  private:
    void open(Side& side, int device, char name);
    void make_qp(Side& side);
    [[nodiscard]] ibv_qp_attr rtr_attr(const Side& side, const Side& peer) const;
    void read_events(Side& side);
    [[nodiscard]] Side& other(const Side& side) { return &side == &a ? b : a; }
};

struct Case {
    std::string name;
    std::function<std::string(const std::string&)> run;
};
/// A case that runs in a rig of its own.
Case with(const char* name, const Options& options, void (*body)(Rig&));
Case with(const char* name, void (*body)(Rig&));
/// The same with something that the body needs to know.
template <class Body>
Case made(const char* name, const Options& options, Body body) {
    return {name, [options, body](const std::string& n) {
                Rig rig(options);
                body(rig);
                return rig.row(n);
            }};
}

std::vector<Case> request_cases();
std::vector<Case> state_cases();
std::vector<Case> queue_cases();
std::vector<Case> window_cases();
std::vector<Case> argument_cases();
std::vector<Case> own_cases();

}  // namespace verbs_cases
