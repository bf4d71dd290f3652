// Arguments of calls that create something, one wrong at a time (case 31a). The QPs stay in RESET.
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "tests/conformance/verbs/cases/rig.hpp"

namespace verbs_cases {

namespace {

/// Notes what came of it; what was made is destroyed.
template <class Object, class Destroy>
void tried(Rig& r, const std::string& what, Object* made, Destroy destroy) {
    const int error = made != nullptr ? 0 : errno;
    r.note("create what=" + what + ",ok=" + (made != nullptr ? "1" : "0") + ",errno=" + errno_name(error));
    if (made != nullptr) destroy(made);
}

void queues(Rig& r, const ibv_device_attr& limits) {
    ibv_context* const c = r.a.context;
    const auto cq = [&](const char* what, int cqe, int vector) {
        tried(r, std::string("cq ") + what, ibv_create_cq(c, cqe, nullptr, nullptr, vector), ibv_destroy_cq);
    };
    cq("cqe=0", 0, 0);
    cq("cqe=-1", -1, 0);
    cq("cqe=max+1", limits.max_cqe + 1, 0);
    cq("comp_vector=num", 1, c->num_comp_vectors);
    cq("comp_vector=-1", 1, -1);
}

void regions(Rig& r) {
    ibv_pd* const pd = r.a.pd;
    const auto mr = [&](const char* what, void* addr, size_t length, int access) {
        tried(r, std::string("mr ") + what, ibv_reg_mr(pd, addr, length, access), ibv_dereg_mr);
    };
    uint8_t* const bytes = r.a.bytes;
    void* const read_only = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void* const unmapped = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(unmapped, 4096);
    mr("remote_write without local_write", bytes, 4096, IBV_ACCESS_REMOTE_WRITE);
    mr("remote_atomic without local_write", bytes, 4096, IBV_ACCESS_REMOTE_ATOMIC);
    mr("remote_read only", bytes, 4096, IBV_ACCESS_REMOTE_READ);
    mr("null", nullptr, 4096, IBV_ACCESS_LOCAL_WRITE);
    mr("unmapped", unmapped, 4096, IBV_ACCESS_LOCAL_WRITE);
    mr("len 0", bytes, 0, IBV_ACCESS_LOCAL_WRITE);
    mr("wrap", reinterpret_cast<void*>(~uintptr_t{0} - 4095), 8192, IBV_ACCESS_LOCAL_WRITE);
    mr("read-only memory with local_write", read_only, 4096, IBV_ACCESS_LOCAL_WRITE);
    mr("bad access bit 1<<19", bytes, 4096, 1 << 19);
    mr("relaxed ordering", bytes, 4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_RELAXED_ORDERING);
    mr("on_demand", bytes, 4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND);
    mr("zero_based", bytes, 4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ZERO_BASED);
    munmap(read_only, 4096);
}

void queue_pairs(Rig& r, const ibv_device_attr& limits) {
    const auto qp = [&](const char* what, ibv_qp_type type, ibv_qp_cap cap) {
        ibv_qp_init_attr init{};
        init.send_cq = r.a.send_cq;
        init.recv_cq = r.a.recv_cq;
        init.qp_type = type;
        init.cap = cap;
        tried(r, std::string("qp ") + what, ibv_create_qp(r.a.pd, &init), ibv_destroy_qp);
    };
    const ibv_qp_cap fine{4, 4, 1, 1, 0};
    const auto wr = static_cast<uint32_t>(limits.max_qp_wr), sge = static_cast<uint32_t>(limits.max_sge);
    qp("max_send_wr max+1", IBV_QPT_RC, {wr + 1, 4, 1, 1, 0});
    qp("max_recv_wr max+1", IBV_QPT_RC, {4, wr + 1, 1, 1, 0});
    qp("send_sge max+1", IBV_QPT_RC, {4, 4, sge + 1, 1, 0});
    qp("recv_sge max+1", IBV_QPT_RC, {4, 4, 1, sge + 1, 0});
    qp("inline 65536", IBV_QPT_RC, {4, 4, 1, 1, 65536});
    qp("zero caps", IBV_QPT_RC, {});
    qp("send_wr 0", IBV_QPT_RC, {0, 4, 1, 1, 0});
    qp("type raw packet", IBV_QPT_RAW_PACKET, fine);
    qp("type xrc_send", IBV_QPT_XRC_SEND, fine);
    ibv_qp_type bad = IBV_QPT_RC;
    const int number = 77;
    std::memcpy(&bad, &number, sizeof bad);
    qp("type bad", bad, fine);
    qp("type UC", IBV_QPT_UC, fine);
    qp("type UD", IBV_QPT_UD, fine);
}

void others(Rig& r, const ibv_device_attr& limits) {
    const auto srq = [&](const char* what, uint32_t max_wr, uint32_t max_sge) {
        ibv_srq_init_attr init{.srq_context = nullptr, .attr = {max_wr, max_sge, 0}};
        tried(r, std::string("srq ") + what, ibv_create_srq(r.a.pd, &init), ibv_destroy_srq);
    };
    srq("max_wr max+1", static_cast<uint32_t>(limits.max_srq_wr) + 1, 1);
    srq("max_sge max+1", 4, static_cast<uint32_t>(limits.max_srq_sge) + 1);
    srq("max_wr 0", 0, 1);
    tried(r, "mw type1", ibv_alloc_mw(r.a.pd, IBV_MW_TYPE_1), ibv_dealloc_mw);
    tried(r, "mw type2", ibv_alloc_mw(r.a.pd, IBV_MW_TYPE_2), ibv_dealloc_mw);
    const auto ah = [&](const char* what, void (*change)(ibv_ah_attr&)) {
        ibv_ah_attr attr{};
        attr.is_global = 1;
        attr.port_num = 1;
        attr.grh = {.dgid = r.b.gid, .flow_label = 0, .sgid_index = 1, .hop_limit = 64, .traffic_class = 0};
        change(attr);
        tried(r, std::string("ah ") + what, ibv_create_ah(r.a.pd, &attr), ibv_destroy_ah);
    };
    ah("not global", [](ibv_ah_attr& x) { x.is_global = 0; });
    ah("sgid_index 99", [](ibv_ah_attr& x) { x.grh.sgid_index = 99; });
    ah("port 2", [](ibv_ah_attr& x) { x.port_num = 2; });
    ah("zero dgid", [](ibv_ah_attr& x) { x.grh.dgid = {}; });
    ah("unresolvable dgid", [](ibv_ah_attr& x) { x.grh.dgid.raw[15] ^= 0x55; });
}

void resizing(Rig& r, const ibv_device_attr& limits) {
    ibv_cq* const cq = r.a.send_cq;
    const auto resize = [&](const char* to, int entries, bool size) {
        const int error = ibv_resize_cq(cq, entries);
        r.note(std::string("resize_cq to=") + to + ",rc_name=" + errno_name(error) +
               (size ? ",cqe=" + std::to_string(cq->cqe) : ""));
    };
    resize("128", 128, true);
    resize("0", 0, true);
    resize("max+1", limits.max_cqe + 1, false);
}

}  // namespace

std::vector<Case> argument_cases() {
    return {with("31a", [](Rig& r) {
        ibv_device_attr limits{};
        ibv_query_device(r.a.context, &limits);
        r.modify(r.a, IBV_QPS_RESET);
        r.modify(r.b, IBV_QPS_RESET);
        queues(r, limits);
        regions(r);
        queue_pairs(r, limits);
        others(r, limits);
        resizing(r, limits);
    })};
}

}  // namespace verbs_cases
