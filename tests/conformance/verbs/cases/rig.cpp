#include "tests/conformance/verbs/cases/rig.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace verbs_cases {

namespace {

void die(const char* what) {
    std::perror(what);
    std::exit(2);
}

ibv_context* device(int index) {
    static std::array<ibv_context*, 2> opened{};
    if (opened[static_cast<size_t>(index)] != nullptr) return opened[static_cast<size_t>(index)];
    int count = 0;
    ibv_device** const list = ibv_get_device_list(&count);
    if (list == nullptr || count < 2) die("two adapters are needed");
    for (int i = 0; i < 2; ++i) {
        opened[static_cast<size_t>(i)] = ibv_open_device(list[i]);
        if (opened[static_cast<size_t>(i)] == nullptr) die("ibv_open_device");
        const int fd = opened[static_cast<size_t>(i)]->async_fd;
        if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) != 0) die("fcntl");
    }
    ibv_free_device_list(list);
    return opened[static_cast<size_t>(index)];
}

bool is_ethernet(ibv_context* context) {
    ibv_port_attr port{};
    if (ibv_query_port(context, 1, &port) != 0) die("ibv_query_port");
    return port.link_layer == IBV_LINK_LAYER_ETHERNET;
}

/// As ibv_wc_status, without its prefix.
const char* status_name(ibv_wc_status status) {
    static constexpr const char* kNames[] = {"SUCCESS",
                                             "LOC_LEN_ERR",
                                             "LOC_QP_OP_ERR",
                                             "LOC_EEC_OP_ERR",
                                             "LOC_PROT_ERR",
                                             "WR_FLUSH_ERR",
                                             "MW_BIND_ERR",
                                             "BAD_RESP_ERR",
                                             "LOC_ACCESS_ERR",
                                             "REM_INV_REQ_ERR",
                                             "REM_ACCESS_ERR",
                                             "REM_OP_ERR",
                                             "RETRY_EXC_ERR",
                                             "RNR_RETRY_EXC_ERR",
                                             "LOC_RDD_VIOL_ERR",
                                             "REM_INV_RD_REQ_ERR",
                                             "REM_ABORT_ERR",
                                             "INV_EECN_ERR",
                                             "INV_EEC_STATE_ERR",
                                             "FATAL_ERR",
                                             "RESP_TIMEOUT_ERR",
                                             "GENERAL_ERR",
                                             "TM_ERR",
                                             "TM_RNDV_INCOMPLETE"};
    return static_cast<size_t>(status) < std::size(kNames) ? kNames[status] : "?";
}

template <typename Opcode>
struct Named {
    Opcode opcode;
    const char* name;
};

std::string opcode_name(ibv_wc_opcode opcode) {
    static constexpr Named<ibv_wc_opcode> kNames[] = {{IBV_WC_SEND, "SEND"},
                                                      {IBV_WC_RDMA_WRITE, "RDMA_WRITE"},
                                                      {IBV_WC_RDMA_READ, "RDMA_READ"},
                                                      {IBV_WC_COMP_SWAP, "COMP_SWAP"},
                                                      {IBV_WC_FETCH_ADD, "FETCH_ADD"},
                                                      {IBV_WC_BIND_MW, "BIND_MW"},
                                                      {IBV_WC_LOCAL_INV, "LOCAL_INV"},
                                                      {IBV_WC_RECV, "RECV"},
                                                      {IBV_WC_RECV_RDMA_WITH_IMM, "RECV_RDMA_WITH_IMM"}};
    for (const Named<ibv_wc_opcode>& known : kNames)
        if (known.opcode == opcode) return known.name;
    return std::to_string(static_cast<int>(opcode));
}

const char* wr_name(ibv_wr_opcode opcode) {
    static constexpr Named<ibv_wr_opcode> kNames[] = {{IBV_WR_SEND, "SEND"},
                                                      {IBV_WR_RDMA_WRITE, "RDMA_WRITE"},
                                                      {IBV_WR_RDMA_READ, "RDMA_READ"},
                                                      {IBV_WR_ATOMIC_FETCH_AND_ADD, "FETCH_ADD"},
                                                      {IBV_WR_ATOMIC_CMP_AND_SWP, "CMP_SWP"},
                                                      {IBV_WR_TSO, "TSO"},
                                                      {IBV_WR_LOCAL_INV, "LOCAL_INV"}};
    for (const Named<ibv_wr_opcode>& known : kNames)
        if (known.opcode == opcode) return known.name;
    return "other";
}

std::string text_of(const ibv_wc& wc) {
    std::string text = std::to_string(wc.wr_id) + ":" + status_name(wc.status);
    const std::string opcode = opcode_name(wc.opcode);
    return wc.status == IBV_WC_SUCCESS ? text + "/" + opcode + "/" + std::to_string(wc.byte_len)
                                       : text + "(" + opcode + ")";
}

std::string completions(const Side& side) {
    std::vector<std::string> parts;
    for (const ibv_wc& wc : side.seen) parts.push_back(text_of(wc));
    return joined(parts, " > ");
}

/// Fields with a separator in them are quoted.
std::string field(const std::string& text) {
    return text.find_first_of(",;\"") == std::string::npos ? text : "\"" + text + "\"";
}

}  // namespace

std::string joined(const std::vector<std::string>& parts, const char* between) {
    std::string out;
    for (const std::string& part : parts) out += (out.empty() ? "" : between) + part;
    return out;
}

std::string errno_name(int error) {
    const char* const name = error == 0 ? "0" : strerrorname_np(error);
    return name != nullptr ? name : std::to_string(error);
}

const char* state_name(int state) {
    static constexpr const char* kNames[] = {"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"};
    return state >= 0 && state < 7 ? kNames[state] : "destroyed";
}

Rig::Rig(const Options& o) : options(o) {
    open(a, 0, 'A');
    open(b, 1, 'B');
    ramp(a, IBV_QPS_RTS);
    ramp(b, IBV_QPS_RTS);
}

void Rig::open(Side& side, int index, char name) {
    side.name = name;
    side.context = device(index);
    side.pd = ibv_alloc_pd(side.context);
    side.bytes =
        static_cast<uint8_t*>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    std::memset(side.bytes, name == 'A' ? 170 : 187, kBytes);
    side.mr =
        ibv_reg_mr(side.pd, side.bytes, kRegistered, name == 'B' ? options.mr_access : kAllAccess | IBV_ACCESS_MW_BIND);
    side.channel = ibv_create_comp_channel(side.context);
    if (side.mr == nullptr || side.channel == nullptr) die("registering");
    fcntl(side.channel->fd, F_SETFL, fcntl(side.channel->fd, F_GETFL) | O_NONBLOCK);
    side.send_cq = ibv_create_cq(side.context, name == 'A' ? options.send_cqe : 127, nullptr, side.channel, 0);
    side.recv_cq = ibv_create_cq(side.context, name == 'B' ? options.recv_cqe : 127, nullptr, side.channel, 0);
    if (side.send_cq == nullptr || side.recv_cq == nullptr) die("ibv_create_cq");
    ibv_port_attr port{};
    if (ibv_query_port(side.context, 1, &port) != 0 ||
        ibv_query_gid(side.context, 1, is_ethernet(side.context) ? 1 : 0, &side.gid) != 0)
        die("query");
    side.lid = port.lid;
    side.access = name == 'B' ? options.qp_access : kAllAccess;
    if (options.srq && name == 'B') {
        ibv_srq_init_attr attr{.srq_context = nullptr, .attr = {31, 4, 0}};
        side.srq = ibv_create_srq(side.pd, &attr);
    }
    make_qp(side);
    read_events(side);
    events.clear();
}

void Rig::make_qp(Side& side) {
    ibv_qp_init_attr init{};
    init.send_cq = side.send_cq;
    init.recv_cq = side.recv_cq;
    init.srq = side.srq;
    init.cap = options.cap;
    init.qp_type = options.type;
    side.qp = ibv_create_qp(side.pd, &init);
    if (side.qp == nullptr) die("ibv_create_qp");
    side.cap = init.cap;
}

Rig::~Rig() {
    for (Side* side : {&a, &b}) {
        if (side->qp != nullptr) ibv_destroy_qp(side->qp);
        if (side->ah != nullptr) ibv_destroy_ah(side->ah);
        if (side->srq != nullptr) ibv_destroy_srq(side->srq);
        ibv_destroy_cq(side->send_cq);
        ibv_destroy_cq(side->recv_cq);
        ibv_destroy_comp_channel(side->channel);
        if (side->mr != nullptr) ibv_dereg_mr(side->mr);
        ibv_dealloc_pd(side->pd);
        munmap(side->bytes, kBytes);
    }
}

ibv_qp_attr Rig::rtr_attr(const Side& side, const Side& peer) const {
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_RTR;
    attr.path_mtu = side.name == 'A' ? options.mtu_of_a : IBV_MTU_1024;
    attr.dest_qp_num = peer.qp != nullptr ? peer.qp->qp_num : 0;
    attr.rq_psn = peer.psn;
    attr.max_dest_rd_atomic = static_cast<uint8_t>(side.name == 'B' ? options.dest_rd_atomic : 4);
    attr.min_rnr_timer = 12;
    attr.ah_attr.port_num = 1;
    attr.ah_attr.dlid = peer.lid;
    if (is_ethernet(side.context)) {
        attr.ah_attr.is_global = 1;
        attr.ah_attr.grh.dgid = peer.gid;
        attr.ah_attr.grh.sgid_index = 1;
        attr.ah_attr.grh.hop_limit = 64;
    }
    return attr;
}

int Rig::modify(Side& side, ibv_qp_state to, int more_mask, void (*change)(ibv_qp_attr&)) {
    ibv_qp_attr attr{};
    int mask = IBV_QP_STATE | more_mask;
    const bool connected = options.type != IBV_QPT_UD, reliable = options.type == IBV_QPT_RC;
    const int from = state_of(side);
    if (to == IBV_QPS_INIT) {
        attr.port_num = 1;
        attr.qkey = kQkey;
        attr.qp_access_flags = static_cast<unsigned>(side.access);
        mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT | (connected ? IBV_QP_ACCESS_FLAGS : IBV_QP_QKEY);
    } else if (to == IBV_QPS_RTR) {
        attr = rtr_attr(side, other(side));
        if (connected) mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
        if (reliable) mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    } else if (to == IBV_QPS_RTS && from == IBV_QPS_RTR) {
        attr.sq_psn = side.psn;
        attr.timeout = static_cast<uint8_t>(options.timeout);
        attr.retry_cnt = static_cast<uint8_t>(options.retry);
        attr.rnr_retry = static_cast<uint8_t>(options.rnr_retry);
        attr.max_rd_atomic = static_cast<uint8_t>(options.rd_atomic);
        mask |= IBV_QP_SQ_PSN;
        if (reliable) mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
    }
    attr.qp_state = to;
    if ((more_mask & IBV_QP_EN_SQD_ASYNC_NOTIFY) != 0) attr.en_sqd_async_notify = 1;
    if (change != nullptr) change(attr);
    const int error = ibv_modify_qp(side.qp, &attr, mask);
    if (error == 0 && to == IBV_QPS_RTR && !connected && side.ah == nullptr) {
        const ibv_qp_attr rtr = rtr_attr(side, other(side));
        ibv_ah_attr ah = rtr.ah_attr;
        side.ah = ibv_create_ah(side.pd, &ah);
        if (side.ah == nullptr) die("ibv_create_ah");
    }
    return error;
}

void Rig::note_modify(Side& side, ibv_qp_state to, int more_mask, const char* from) {
    const int error = modify(side, to, more_mask);
    note(std::string("modify side=") + side.name + ",to=" + state_name(to) + (from != nullptr ? ",from=" : "") +
         (from != nullptr ? from : "") + ",rc_name=" + errno_name(error));
}

void Rig::ramp(Side& side, ibv_qp_state to) {
    const int from = state_of(side);
    for (const ibv_qp_state next : {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS}) {
        if (static_cast<int>(next) <= from || next > to) continue;
        if (const int error = modify(side, next); error != 0) {
            errno = error;
            die("ibv_modify_qp");
        }
    }
}

int Rig::state_of(Side& side) {
    if (side.qp == nullptr) return -1;
    ibv_qp_attr attr{};
    ibv_qp_init_attr init{};
    if (ibv_query_qp(side.qp, &attr, IBV_QP_STATE, &init) != 0) die("ibv_query_qp");
    return attr.qp_state;
}

void Rig::destroy_qp(Side& side) {
    if (const int error = ibv_destroy_qp(side.qp); error != 0) note("destroy what=qp,rc_name=" + errno_name(error));
    side.qp = nullptr;
}

int Rig::send(Side& side, const Send& s) {
    Side& peer = other(side);
    std::array<ibv_sge, 4> sges{};
    for (int i = 0; i < s.sges; ++i)
        sges[static_cast<size_t>(i)] = {reinterpret_cast<uint64_t>(side.bytes) + s.local, s.length,
                                        s.lkey.value_or(side.mr != nullptr ? side.mr->lkey : 0)};
    ibv_send_wr wr{}, *bad = nullptr;
    wr.wr_id = s.id;
    wr.sg_list = sges.data();
    wr.num_sge = s.length == 0 && s.opcode != IBV_WR_RDMA_READ ? 0 : s.sges;
    wr.opcode = s.opcode;
    wr.send_flags = s.flags;
    wr.imm_data = s.imm;
    const uint64_t at = s.remote_address.value_or(reinterpret_cast<uint64_t>(peer.bytes) + s.remote);
    const uint32_t rkey = s.rkey.value_or(peer.mr != nullptr ? peer.mr->rkey : 0);
    if (s.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD || s.opcode == IBV_WR_ATOMIC_CMP_AND_SWP) {
        wr.wr.atomic = {.remote_addr = at, .compare_add = s.add, .swap = 7, .rkey = rkey};
    } else if (options.type == IBV_QPT_UD) {
        wr.wr.ud = {.ah = side.ah,
                    .remote_qpn = s.qpn.value_or(peer.qp != nullptr ? peer.qp->qp_num : 0),
                    .remote_qkey = s.qkey.value_or(kQkey)};
    } else {
        wr.wr.rdma = {.remote_addr = at, .rkey = rkey};
        if (s.opcode == IBV_WR_LOCAL_INV || s.opcode == IBV_WR_SEND_WITH_INV) wr.invalidate_rkey = rkey;
    }
    const int error = ibv_post_send(side.qp, &wr, &bad);
    if (error != 0)
        failed.push_back(std::string(1, side.name) + " post_send wr" + std::to_string(s.id) + " " + wr_name(s.opcode) +
                         " len" + std::to_string(s.length) + "x" + std::to_string(s.sges) + " -> " + errno_name(error) +
                         " (bad_wr=" + (bad == &wr ? "this" : "null") + ")");
    return error;
}

int Rig::receive(Side& side, const Receive& r) {
    ibv_sge sge = {reinterpret_cast<uint64_t>(side.bytes) + r.at, r.length, r.lkey.value_or(side.mr->lkey)};
    ibv_recv_wr wr{}, *bad = nullptr;
    wr.wr_id = r.id;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    const int error = side.srq != nullptr ? ibv_post_srq_recv(side.srq, &wr, &bad) : ibv_post_recv(side.qp, &wr, &bad);
    if (error != 0)
        failed.push_back(std::string(1, side.name) + " post_recv wr" + std::to_string(r.id) + " len" +
                         std::to_string(r.length) + "x1 -> " + errno_name(error) +
                         " (bad_wr=" + (bad == &wr ? "this" : "null") + ")");
    return error;
}

void Rig::sends(Side& side, uint64_t first, int count) {
    for (int i = 0; i < count; ++i) send(side, {.id = first + static_cast<uint64_t>(i)});
}

void Rig::receives(Side& side, uint64_t first, int count, uint32_t length) {
    for (int i = 0; i < count; ++i) receive(side, {.id = first + static_cast<uint64_t>(i), .length = length});
}

int Rig::bind(Side& side, ibv_mw* window, uint64_t id, uint64_t offset, uint64_t length, unsigned access) {
    ibv_mw_bind bind{};
    bind.wr_id = id;
    bind.send_flags = IBV_SEND_SIGNALED;
    bind.bind_info = {side.mr, reinterpret_cast<uint64_t>(side.bytes) + offset, length, access};
    return ibv_bind_mw(side.qp, window, &bind);
}

int Rig::bind_type_2(Side& side, ibv_mw* window, uint64_t id, uint32_t rkey, uint64_t offset, uint64_t length) {
    ibv_send_wr wr{}, *bad = nullptr;
    wr.wr_id = id;
    wr.opcode = IBV_WR_BIND_MW;
    wr.send_flags = IBV_SEND_SIGNALED;
    wr.bind_mw = {
        .mw = window,
        .rkey = rkey,
        .bind_info = {side.mr, reinterpret_cast<uint64_t>(side.bytes) + offset, length, IBV_ACCESS_REMOTE_WRITE}};
    return ibv_post_send(side.qp, &wr, &bad);
}

void Rig::note_draining(Side& side) {
    ibv_qp_attr attr{};
    ibv_qp_init_attr init{};
    ibv_query_qp(side.qp, &attr, IBV_QP_STATE, &init);
    note("sq_draining " + std::to_string(attr.sq_draining));
}

void Rig::note_events() {
    read_events(a);
    read_events(b);
    note("events " + std::to_string(events.size()));
}

void Rig::poll(Side& side) {
    ibv_wc wc{};
    for (ibv_cq* cq : {side.send_cq, side.recv_cq})
        while (ibv_poll_cq(cq, 1, &wc) > 0) side.seen.push_back(wc);
}

void Rig::drain(int milliseconds) {
    const int step_us = std::max(200, milliseconds * 5);
    for (int us = 0; us < milliseconds * 1000; us += step_us) {
        usleep(static_cast<useconds_t>(step_us));
        poll(a);
        poll(b);
    }
}

void Rig::wait(int milliseconds) {
    usleep(static_cast<useconds_t>(milliseconds) * 1000);
}

int Rig::cq_events(Side& side) {
    ibv_cq* cq = nullptr;
    void* context = nullptr;
    int count = 0;
    while (ibv_get_cq_event(side.channel, &cq, &context) == 0) {
        ibv_ack_cq_events(cq, 1);
        ++count;
    }
    return count;
}

void Rig::read_events(Side& side) {
    ibv_async_event event{};
    while (ibv_get_async_event(side.context, &event) == 0) {
        events.push_back(std::string(1, side.name) + ":" + ibv_event_type_str(event.event_type));
        ibv_ack_async_event(&event);
    }
}

std::string Rig::row(const std::string& name) {
    drain(2);
    read_events(a);
    read_events(b);
    const std::vector<std::string> fields = {name,
                                             joined(failed, "; "),
                                             completions(a),
                                             completions(b),
                                             joined(events, "; "),
                                             state_name(state_of(a)),
                                             state_name(state_of(b)),
                                             joined(notes, "; ")};
    std::vector<std::string> quoted;
    for (const std::string& text : fields) quoted.push_back(field(text));
    std::string out = quoted[0];
    for (size_t i = 1; i < quoted.size(); ++i) out += "," + quoted[i];
    return out;
}

Case with(const char* name, const Options& options, void (*body)(Rig&)) {
    return made(name, options, body);
}
Case with(const char* name, void (*body)(Rig&)) {
    return made(name, Options{}, body);
}

}  // namespace verbs_cases
