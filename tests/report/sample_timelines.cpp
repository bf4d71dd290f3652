#include "tests/report/sample_timelines.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/timeline/events.hpp"
#include "models/timeline/header_text.hpp"
#include "models/wire/opcode_table.hpp"

namespace simverbs::scenarios::timeline {

using hca::QpState;
using sim::SimTime;
using simverbs::timeline::Fate;
using simverbs::timeline::kNone;
using simverbs::timeline::Packet;
using simverbs::timeline::QueuePair;
using simverbs::timeline::Timeline;
using simverbs::timeline::WorkRecord;
using simverbs::timeline::WorkRequest;

namespace {

constexpr uint8_t kSendOnly = 0x04, kAck = 0x11, kDatagram = 0x64;
constexpr uint8_t kPlainAck = 0x1F, kSequenceNak = 0x60, kRnr = 0x20 | 14;

/// Puts packets together; its time only goes on.
class Script {
  public:
    explicit Script(uint32_t hosts) {
        for (uint32_t i = 0; i < hosts; ++i) t.ports.push_back({fmt::format("h{}", i), "mlx5_0", 1});
    }

    uint32_t queue_pair(uint32_t port, uint32_t qpn) {
        QueuePair qp;
        qp.adapter = qp.port = port;
        qp.qpn = qpn;
        qp.created = now;
        t.queue_pairs.push_back(qp);
        const auto index = static_cast<uint32_t>(t.queue_pairs.size() - 1);
        state(index, QpState::Reset);
        return index;
    }
    void state(uint32_t qp, QpState to, bool by_program = true) { t.states.push_back({now, qp, to, by_program}); }
    void to_rts(uint32_t qp) {
        for (const QpState to : {QpState::Init, QpState::Rtr, QpState::Rts}) {
            now += SimTime::us(14);
            state(qp, to);
        }
    }
    void connect(uint32_t a, uint32_t b) {
        t.queue_pairs[a].peer = b;
        t.queue_pairs[b].peer = a;
    }

    Packet& packet(uint32_t from, uint32_t to, uint8_t opcode, uint32_t psn, uint32_t bytes, uint8_t syndrome = 0) {
        Packet p;
        p.sent = now;
        p.received = now + SimTime::ns(1400) + SimTime::ns(bytes / 12);
        p.source = from;
        p.dest = to;
        p.from = t.queue_pairs[from].port;
        p.to = t.queue_pairs[to].port;
        p.dest_qpn = t.queue_pairs[to].qpn;
        p.psn = psn;
        p.payload_bytes = bytes;
        p.wire_bytes = bytes + 82;
        p.opcode = opcode;
        p.ack_req = opcode == kSendOnly;
        p.fate = Fate::Received;
        p.name = wire::opcode_name(opcode);
        p.syndrome = syndrome;
        if (opcode == kAck)
            p.headers.push_back(
                fmt::format("AETH  {}, MSN {}", simverbs::timeline::syndrome_text(syndrome), psn & 0xFF));
        t.packets.push_back(std::move(p));
        return t.packets.back();
    }
    void mad(uint32_t from, uint32_t to, const char* name, uint32_t psn) {
        Packet& p = packet(from, to, kDatagram, psn, 256);
        p.name = name;
        p.headers = {"DETH  Q_Key 0x80010000, source QP 0x000001", fmt::format("CM    {}", name)};
        now += SimTime::us(9);
    }
    WorkRequest& work(uint32_t qp, bool is_send, uint64_t id, SimTime took) {
        WorkRequest w;
        w.posted = now - SimTime::ns(500);
        w.qp = qp;
        w.is_send = is_send;
        w.wr_id = id;
        w.length = 4096;
        w.completed = w.posted + took;
        w.has_cqe = true;
        t.work.push_back(w);
        return t.work.back();
    }
    /// A message that arrives, and its ACK.
    void message(uint32_t from, uint32_t to, uint32_t psn) {
        work(from, true, 0x100 + psn, SimTime::ns(4300));
        packet(from, to, kSendOnly, psn, 4096);
        now += SimTime::ns(1900);
        packet(to, from, kAck, psn, 0, kPlainAck);
        now += SimTime::ns(2200);
    }
    Timeline finish(const std::vector<WorkRecord::Trouble>& troubles = {}) {
        t.end = now + SimTime::us(20);
        t.packets_sent = t.packets.size();
        for (WorkRequest& w : t.work) w.open_until = t.end;
        std::ranges::stable_sort(t.packets, {}, &Packet::sent);
        std::ranges::stable_sort(t.work, {}, &WorkRequest::posted);
        t.events = simverbs::timeline::find_events(t, troubles);
        return std::move(t);
    }

    Timeline t;
    SimTime now = SimTime::us(800);
};

}  // namespace

Timeline rich_timeline() {
    Script s(2);
    std::vector<WorkRecord::Trouble> troubles;
    const uint32_t a = s.queue_pair(0, 0x18f3), b = s.queue_pair(1, 0xa11);
    s.connect(a, b);
    s.to_rts(b);
    const uint32_t cm_a = static_cast<uint32_t>(s.t.queue_pairs.size()), cm_b = cm_a + 1;
    for (uint32_t port = 0; port < 2; ++port) {
        QueuePair qp;
        qp.adapter = qp.port = port;
        qp.qpn = 1;
        qp.type = hca::QpType::Ud;
        qp.is_management = true;
        s.t.queue_pairs.push_back(qp);
    }
    s.mad(cm_a, cm_b, "CM REQ", 1);
    s.mad(cm_b, cm_a, "CM REP", 1);
    s.to_rts(a);
    s.mad(cm_a, cm_b, "CM RTU", 2);
    uint32_t psn = 4711;
    for (int i = 0; i < 6; ++i) s.message(i % 2 == 0 ? a : b, i % 2 == 0 ? b : a, psn++);
    // Lost; the timeout sends it again.
    WorkRequest& late = s.work(a, true, 0x100 + psn, SimTime::us(67'110));
    late.length = 4096;
    Packet& lost = s.packet(a, b, kSendOnly, psn, 4096);
    lost.fate = Fate::Lost;
    lost.received = s.now + SimTime::ns(900);
    lost.what_happened = "dropped on sw0/2 - h1.mlx5_0/1 (fault 'links[1].faults.drop_every')";
    s.now += SimTime::us(67'100);
    troubles.push_back(
        {s.now, a, true, false, fmt::format("local ACK timeout: goes back to PSN {}, 6 of its retries left", psn)});
    s.now += SimTime::ns(400);
    s.packet(a, b, kSendOnly, psn, 4096).is_retransmission = true;
    s.now += SimTime::ns(1900);
    s.packet(b, a, kAck, psn, 0, kPlainAck);
    ++psn;
    s.now += SimTime::ns(2200);
    for (int i = 0; i < 4; ++i) s.message(a, b, psn++);
    // Corrupt; the next one finds the gap.
    s.work(a, true, 0x100 + psn, SimTime::us(12));
    Packet& corrupt = s.packet(a, b, kSendOnly, psn, 4096);
    corrupt.fate = Fate::Corrupt;
    corrupt.what_happened = "corrupted: its ICRC is wrong, the receiver discards it on h0.mlx5_0/1 - sw0/1 (fault 'f')";
    s.now += SimTime::ns(700);
    s.work(a, true, 0x101 + psn, SimTime::us(12));
    s.packet(a, b, kSendOnly, psn + 1, 4096);
    s.now += SimTime::ns(2000);
    s.packet(b, a, kAck, psn, 0, kSequenceNak);
    s.now += SimTime::ns(2300);
    for (uint32_t i = 0; i < 2; ++i) {
        s.packet(a, b, kSendOnly, psn + i, 4096).is_retransmission = true;
        s.now += SimTime::ns(700);
    }
    s.now += SimTime::ns(1300);
    s.packet(b, a, kAck, psn + 1, 0, kPlainAck);
    psn += 2;
    s.now += SimTime::ns(2300);
    for (int i = 0; i < 4; ++i) s.message(b, a, psn++);
    Packet& delayed = s.packet(b, a, kSendOnly, psn++, 64);
    delayed.treatment.delayed = true;
    delayed.received += SimTime::us(6);
    delayed.what_happened = "delayed by 6.000 us on sw0/2 - h1.mlx5_0/1 (fault 'slow')";
    s.now += SimTime::us(9);
    // Not ready.
    s.work(a, true, 0x100 + psn, SimTime::us(1'300));
    s.packet(a, b, kSendOnly, psn, 4096);
    s.now += SimTime::ns(1900);
    s.packet(b, a, kAck, psn, 0, kRnr);
    s.now += SimTime::us(1'281);
    s.packet(a, b, kSendOnly, psn, 4096).is_retransmission = true;
    s.now += SimTime::ns(1900);
    s.packet(b, a, kAck, psn++, 0, kPlainAck);
    s.now += SimTime::us(3);
    // A key that is none.
    WorkRequest& failed = s.work(a, true, 0x100 + psn, SimTime::ns(4400));
    failed.status = hca::WcStatus::RemAccessErr;
    Packet& write = s.packet(a, b, 0x0A, psn, 64);
    write.headers = {"RETH  VA 0x7ffff0001000, R_Key 0x00001234, DMA length 64"};
    s.now += SimTime::ns(1900);
    s.packet(b, a, kAck, psn, 0, 0x62);
    s.state(b, QpState::Err, false);
    troubles.push_back({s.now, b, false, true, "QP 0x000a11: no MR has this rkey; the QP goes to the error state."});
    s.now += SimTime::ns(1500);
    s.state(a, QpState::Err, false);
    troubles.push_back(
        {s.now, a, false, true, "QP 0x0018f3: the peer answered with a NAK; the QP goes to the error state."});
    for (uint64_t id = 0; id < 3; ++id) {
        WorkRequest& flushed = s.work(b, false, id, SimTime::us(2));
        flushed.status = hca::WcStatus::WrFlushErr;
        flushed.length = 0;
    }
    return s.finish(troubles);
}

Timeline empty_timeline() {
    Script s(1);
    return s.finish();
}

Timeline large_timeline(uint32_t packets) {
    Script s(4);
    std::vector<uint32_t> qps;
    for (uint32_t i = 0; i < 80; ++i) {
        qps.push_back(s.queue_pair(i % 4, 0x100 + i));
        s.state(qps.back(), QpState::Rts);
    }
    for (uint32_t i = 0; i < packets; ++i) {
        const uint32_t from = i * 7 % 80, to = (from + 1 + i % 3) % 80;
        s.work(qps[from], true, i, SimTime::us(30));
        s.packet(qps[from], qps[to], i % 3 == 0 ? kAck : kSendOnly, i, 1024, kPlainAck).is_retransmission = i % 50 == 0;
        s.now += SimTime::ns(90);
    }
    Timeline t = s.finish();
    t.cut = t.end;
    t.end += SimTime::ms(40);
    t.packets_sent = packets * 9ULL;
    t.faults_left_out = 1;
    t.retransmissions_left_out = 200;
    t.work_left_out = 12345;
    return t;
}

Timeline hostile_timeline() {
    Script s(2);
    s.t.ports[0].host = "<img src=x onerror=\"throw 1\">" + std::string(300, 'w');
    s.t.ports[1].host = "h1</script><script>throw 2</script>\xff\xfe";
    const uint32_t a = s.queue_pair(0, 1'000'000);
    (void)s.queue_pair(1, 0xFFFFFE);
    Packet& nowhere = s.packet(a, a, 0xFF, 0xFFFFFF, 0);
    nowhere.to = nowhere.dest = kNone;
    nowhere.fate = Fate::UnderWay;
    nowhere.name = "<b>reserved</b> opcode";
    nowhere.headers = {"</script>", "\xff\xfe", ""};
    Packet& unknown = s.packet(a, a, 0x81, 0, 0);
    unknown.source = unknown.dest = kNone;
    unknown.to = 1;
    unknown.fate = Fate::Discarded;
    unknown.what_happened = "<!-- <script>";
    s.work(a, true, ~0ULL, SimTime::zero()).completed.reset();
    return s.finish({{s.now, a, false, false, "<i>&amp;</i>\xff"}});
}

TimelineFacts sample_facts() {
    return {.title = "two_hosts_roce_100g",
            .facts = {{"seed", "1"}, {"clock", "virtual"}},
            .programs = {{"h0", "ibv_rc_pingpong -g 1 -n 40"}, {"h1", "ibv_rc_pingpong -g 1 -n 40 h0"}},
            .how_to_keep_more = "--timeline-packets"};
}

}  // namespace simverbs::scenarios::timeline
