// The profiles against published measurements: a program's loop, with the profile's CPU costs, around the model.
#include <gtest/gtest.h>

#include "tests/unit/models/hca/rig.hpp"

namespace simverbs::test {
namespace {

constexpr uint32_t kInlineWrite = 220;  ///< perftest's default for writes

RigOptions rig_for(const char* profile, LinkLayer layer, int64_t gbps, bool through_switch) {
    RigOptions o;
    o.profile = profile;
    o.layer = layer;
    o.gbps = gbps;
    o.through_switch = through_switch;
    // Quantum 130 ns, Spectrum-2 300 ns.
    o.switch_latency = layer == LinkLayer::InfiniBand ? SimTime::ns(130) : SimTime::ns(300);
    return o;
}

QpOptions qp_options() {
    QpOptions q;
    q.mtu = Mtu::Mtu4096;
    q.inline_data = kInlineWrite;
    q.timeout = 14;
    return q;
}

void post(Peer& p, const Peer& remote, WrOpcode op, uint32_t bytes, SimTime t) {
    const Sge sge{p.base, bytes, p.mr.lkey};
    SendWr wr;
    wr.opcode = op;
    wr.send_flags = kSignaled;
    if (bytes <= kInlineWrite && op != WrOpcode::RdmaRead) {
        wr.send_flags |= kInline;
        wr.inline_data = p.bytes;
        wr.inline_bytes = bytes;
    } else {
        wr.sges = &sge;
        wr.num_sge = 1;
    }
    wr.remote_addr = remote.base + 65536;
    wr.rkey = remote.mr.rkey;
    ASSERT_EQ(p.hca->post_send(p.qpn, wr, t), 0);
}

/// Half a round trip (whole for reads), averaged, in microseconds: as perftest reports it.
double latency(const RigOptions& o, WrOpcode op, uint32_t bytes) {
    Rig rig(o);
    auto [a, b] = rig.connect(qp_options());
    const HostCosts& cpu = a.hca->profile().cpu;
    a.hca->watch_memory(a.space, true);
    b.hca->watch_memory(b.space, true);
    constexpr int kRounds = 20;
    SimTime t = SimTime::us(10);
    rig.engine().run_until(t);
    const SimTime begin = t;
    for (int i = 0; i < kRounds; ++i) {
        if (op == WrOpcode::RdmaRead) {
            const size_t before = a.sink->cqes.size();
            post(a, b, op, bytes, t + cpu.post_send);
            EXPECT_TRUE(rig.run_until([&sink = *a.sink, before] { return sink.cqes.size() > before; }));
            t = a.sink->cqes.back().at + cpu.poll_cqe;
            continue;
        }
        for (const auto& [from, to] : {std::pair(&a, &b), std::pair(&b, &a)}) {
            if (op == WrOpcode::Send) rig.receive(*to, 1, 65536, 65536);
            const auto arrived = [&, target = to] {
                const auto received =
                    std::ranges::count_if(target->sink->cqes, [](const SeenCqe& c) { return !c.cqe.is_send; });
                return op == WrOpcode::Send ? static_cast<size_t>(received) : target->sink->written.size();
            };
            const size_t before = arrived();
            post(*from, *to, op, bytes, t + cpu.post_send);
            const uint32_t packets = std::max(1U, (bytes + 4095) / 4096);
            EXPECT_TRUE(rig.run_until([&] { return arrived() >= before + (op == WrOpcode::Send ? 1 : packets); }));
            if (op == WrOpcode::Send) {
                const auto last = std::find_if(to->sink->cqes.rbegin(), to->sink->cqes.rend(),
                                               [](const SeenCqe& c) { return !c.cqe.is_send; });
                t = last->at + cpu.poll_cqe;
            } else {
                t = to->sink->written.back() + cpu.memory_poll;
            }
            from->hca->cq_consumed(from->cq, 1);
            if (op == WrOpcode::Send) to->hca->cq_consumed(to->cq, 1);
        }
    }
    const double rounds = op == WrOpcode::RdmaRead ? kRounds : 2.0 * kRounds;
    return (t - begin).in_us() / rounds;
}

/// One QP, queue depth 128, WRITEs of `bytes`: MiB a second.
double bandwidth(const RigOptions& o, uint32_t bytes, Mtu mtu, int messages) {
    RigOptions options = o;
    options.mtu = Mtu::Mtu4096;
    Rig rig(options);
    QpOptions q = qp_options();
    q.mtu = mtu;
    auto [a, b] = rig.connect(q);
    const HostCosts& cpu = a.hca->profile().cpu;
    SimTime clock = rig.now();
    const SimTime begin = clock;
    int posted = 0;
    size_t done = 0;
    while (done < static_cast<size_t>(messages)) {
        while (posted < messages && posted - static_cast<int>(done) < 128) {
            clock = std::max(clock, rig.now());
            const Sge sge{a.base, bytes, a.mr.lkey};
            SendWr wr;
            wr.opcode = WrOpcode::RdmaWrite;
            wr.send_flags = kSignaled;
            wr.sges = &sge;
            wr.num_sge = 1;
            wr.remote_addr = b.base;
            wr.rkey = b.mr.rkey;
            EXPECT_EQ(a.hca->post_send(a.qpn, wr, clock), 0);
            clock += cpu.post_send;
            ++posted;
        }
        if (!rig.run_until([&sink = *a.sink, done] { return sink.cqes.size() > done; })) break;
        a.hca->cq_consumed(a.cq, static_cast<uint32_t>(a.sink->cqes.size() - done));
        done = a.sink->cqes.size();
    }
    const double seconds = (a.sink->cqes.back().at - begin).in_s();
    return static_cast<double>(bytes) * messages / seconds / (1 << 20);
}

TEST(Calibration, Cx5At100gBackToBack) {
    const RigOptions o = rig_for("cx5-100g", LinkLayer::Ethernet, 100, false);
    EXPECT_NEAR(latency(o, WrOpcode::RdmaWrite, 8), 0.99, 0.99 * 0.05);
    EXPECT_NEAR(latency(o, WrOpcode::Send, 8), 0.92, 0.92 * 0.05);
}

TEST(Calibration, Cx6Hdr100ThroughOneQuantumSwitch) {
    const RigOptions o = rig_for("cx6-hdr100", LinkLayer::InfiniBand, 100, true);
    EXPECT_NEAR(latency(o, WrOpcode::RdmaWrite, 2), 1.26, 1.26 * 0.05);
    EXPECT_NEAR(latency(o, WrOpcode::Send, 2), 1.27, 1.27 * 0.05);
    EXPECT_NEAR(latency(o, WrOpcode::RdmaRead, 2), 2.39, 2.39 * 0.05);
}

TEST(Calibration, Cx7At400gThroughOneEthernetSwitch) {
    const RigOptions o = rig_for("cx7-400g", LinkLayer::Ethernet, 400, true);
    EXPECT_NEAR(latency(o, WrOpcode::RdmaWrite, 2), 1.47, 1.47 * 0.05);
}

TEST(Calibration, InlineSavesADmaRead_ReadsCostMoreThanWrites) {
    const RigOptions o = rig_for("cx6-hdr100", LinkLayer::InfiniBand, 100, true);
    const double inline_128 = latency(o, WrOpcode::RdmaWrite, 128);
    const double fetched_256 = latency(o, WrOpcode::RdmaWrite, 256);
    EXPECT_GT(fetched_256, inline_128 + 0.5);
    EXPECT_LT(fetched_256, inline_128 + 1.0);
    EXPECT_GT(latency(o, WrOpcode::RdmaRead, 2), latency(o, WrOpcode::RdmaWrite, 2));
}

TEST(Calibration, Cx6At200gOneQp) {
    const RigOptions o = rig_for("cx6-200g", LinkLayer::InfiniBand, 200, true);
    EXPECT_NEAR(bandwidth(o, 65536, Mtu::Mtu4096, 600), 22715, 22715 * 0.03);
    EXPECT_NEAR(bandwidth(o, 1 << 20, Mtu::Mtu4096, 100), 23296, 23296 * 0.03);
}

TEST(Calibration, TheIdealProfileReachesTheGoodputOfTheHeaders) {
    const RigOptions o = rig_for("ideal", LinkLayer::Ethernet, 400, true);
    for (const auto& [mtu, bytes] : {std::pair(Mtu::Mtu4096, 4096.0), std::pair(Mtu::Mtu1024, 1024.0)}) {
        // 82 bytes of headers and gaps a packet, 16 of the RETH once a message.
        const double packets = (1 << 20) / bytes;
        const double goodput = 400e9 / 8 * (1 << 20) / ((bytes + 82) * packets + 16) / (1 << 20);
        EXPECT_NEAR(bandwidth(o, 1 << 20, mtu, 100), goodput, goodput * 0.01);
    }
}

TEST(Calibration, SmallMessagesAreLimitedByTheProfilesMessageRate) {
    const double mib = bandwidth(rig_for("cx6-200g", LinkLayer::InfiniBand, 200, true), 64, Mtu::Mtu4096, 3000);
    const double rate = mib * (1 << 20) / 64;
    EXPECT_NEAR(rate, 2.6e6, 0.2e6);
}

}  // namespace
}  // namespace simverbs::test
