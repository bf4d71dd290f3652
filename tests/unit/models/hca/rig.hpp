// A small fabric with memory and recorders, for tests of the HCA.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "models/fabric/fabric.hpp"
#include "models/wire/gid.hpp"

namespace simverbs::test {

using namespace hca;
using sim::SimTime;

/// Address spaces made of vectors; every space begins at kBase.
class TestMemory final : public host::HostMemory {
  public:
    static constexpr uint64_t kBase = 0x100000;
    std::map<host::AddressSpaceId, std::vector<uint8_t>> spaces;

    uint8_t* at(host::AddressSpaceId space, uint64_t va, uint64_t bytes) {
        const auto it = spaces.find(space);
        if (it == spaces.end() || va < kBase || va - kBase + bytes > it->second.size()) return nullptr;
        return it->second.data() + (va - kBase);
    }
    bool read(host::AddressSpaceId space, uint64_t va, std::span<uint8_t> out) override {
        const uint8_t* p = at(space, va, out.size());
        if (p == nullptr) return false;
        std::copy_n(p, out.size(), out.data());
        return true;
    }
    bool write(host::AddressSpaceId space, uint64_t va, std::span<const uint8_t> in) override {
        uint8_t* p = at(space, va, in.size());
        if (p == nullptr) return false;
        std::ranges::copy(in, p);
        return true;
    }
    bool copy(host::AddressSpaceId from, uint64_t from_va, host::AddressSpaceId to, uint64_t to_va,
              uint64_t bytes) override {
        const uint8_t* p = at(from, from_va, bytes);
        uint8_t* q = at(to, to_va, bytes);
        if (p == nullptr || q == nullptr) return false;
        std::copy_n(p, bytes, q);
        return true;
    }
};

struct SeenCqe {
    CqHandle cq;
    Cqe cqe;
    SimTime at;
};

class TestSink final : public HostSink {
  public:
    void on_cqe(CqHandle cq, const Cqe& cqe, SimTime at) override { cqes.push_back({cq, cqe, at}); }
    void on_cq_event(CqHandle cq, SimTime at) override { cq_events.emplace_back(cq, at); }
    void on_async_event(const AsyncEvent& e, SimTime) override { events.push_back(e); }
    void on_memory_written(host::AddressSpaceId, uint64_t, uint64_t, bool, SimTime at) override {
        written.push_back(at);
    }
    void on_incident(const Incident& i) override {
        if (!i.by_program) incidents.push_back(i);
    }
    std::vector<SeenCqe> cqes;
    std::vector<std::pair<CqHandle, SimTime>> cq_events;
    std::vector<AsyncEvent> events;
    std::vector<SimTime> written;
    std::vector<Incident> incidents;
};

/// Every packet of a port: what a wire tap would note.
class WireTap final : public link::PacketObserver {
  public:
    struct Seen {
        SimTime at;
        link::Direction direction;
        uint8_t opcode;
        uint32_t psn;
        uint8_t syndrome;
    };
    void on_packet(SimTime at, const wire::Packet& p, link::Direction d) override {
        seen.push_back({at, d, static_cast<uint8_t>(p.opcode), p.psn, static_cast<uint8_t>(p.aeth_syndrome)});
    }
    /// PSNs of the requests that left here.
    [[nodiscard]] std::vector<uint32_t> request_psns() const {
        std::vector<uint32_t> out;
        for (const Seen& s : seen)
            if (s.direction == link::Direction::Out && wire::find_opcode(s.opcode)->is_request) out.push_back(s.psn);
        return out;
    }
    [[nodiscard]] size_t count_in(uint8_t opcode, uint8_t syndrome_class = 0xFF) const {
        return static_cast<size_t>(std::ranges::count_if(seen, [&](const Seen& s) {
            return s.direction == link::Direction::In && s.opcode == opcode &&
                   (syndrome_class == 0xFF || (s.syndrome & 0xE0) == syndrome_class);
        }));
    }
    std::vector<Seen> seen;
};

struct RigOptions {
    std::string profile = "ideal";
    LinkLayer layer = LinkLayer::Ethernet;
    int64_t gbps = 100;
    uint32_t hosts = 2;
    bool through_switch = false;
    uint32_t spines = 0;  ///< not 0: two leaf switches, each with a link to each of so many others; hosts in turn
    SimTime switch_latency = SimTime::ns(300);
    sim::ByteCount switch_queue_bytes = std::numeric_limits<sim::ByteCount>::max();
    Mtu mtu = Mtu::Mtu4096;
    std::vector<link::LinkFault> faults_out;  ///< of packets that host 0 sends
    std::vector<link::LinkFault> faults_in;   ///< of packets that host 0 receives
    uint64_t seed = 1;
    unsigned threads = 1;
    bool with_memory = true;
    std::vector<uint16_t> pkeys{0xFFFF};
    /// The inside of each host; none: they are ideal.
    std::function<std::unique_ptr<host::HostComplex>()> make_complex;
};

struct QpOptions {
    QpType type = QpType::Rc;
    uint32_t access = kLocalWrite | kRemoteWrite | kRemoteRead | kRemoteAtomic;
    Mtu mtu = Mtu::Mtu1024;
    uint32_t sq_psn = 0;
    uint8_t timeout = 10, retry_cnt = 3, rnr_retry = 3, min_rnr_timer = 1, rd_atomic = 4;
    uint32_t send_wr = 256, recv_wr = 256;
    uint32_t cqe = 4096;
    bool with_srq = false;
    uint16_t pkey_index = 0;
    uint32_t inline_data = 64;
    host::MemoryId region_memory = host::kNearestMemory, ring_memory = host::kNearestMemory;
};

/// A program on one host: its PD, CQ, memory and one QP.
struct Peer {
    Hca* hca = nullptr;
    TestSink* sink = nullptr;
    OwnerId owner = 0;
    host::AddressSpaceId space = 0;
    PdHandle pd = 0;
    CqHandle cq = 0;
    MrKeys mr;
    SrqHandle srq = 0;
    uint32_t qpn = 0;
    AhHandle ah = 0;
    uint8_t* bytes = nullptr;
    uint64_t base = TestMemory::kBase;
    size_t next_cqe = 0;
};

class Rig {
  public:
    static constexpr uint64_t kMemory = 4 << 20;
    explicit Rig(RigOptions o = {});

    [[nodiscard]] fabric::Fabric& fabric() { return *fabric_; }
    [[nodiscard]] sim::Engine& engine() { return fabric_->engine(); }
    [[nodiscard]] SimTime now() { return engine().frontier(); }
    [[nodiscard]] ControlContext by(const Peer& p, Explanation* why = nullptr) { return {p.owner, now(), why}; }

    /// A program on host `host` with everything but a connection.
    Peer open(size_t host, const QpOptions& o = {});
    /// Brings a QP to INIT, RTR, RTS.
    int to_init(Peer& p, const QpOptions& o = {});
    int to_rtr(Peer& p, const Peer& remote, size_t remote_host, const QpOptions& o = {});
    int to_rts(Peer& p, const QpOptions& o = {});
    int to_state(Peer& p, QpState s);
    /// Two programs with connected QPs (RC, UC) or with AHs to each other (UD).
    std::pair<Peer, Peer> connect(const QpOptions& o = {}, size_t a = 0, size_t b = 1);
    [[nodiscard]] AhAttr address_of(size_t host, size_t from) const;
    [[nodiscard]] QpState state(const Peer& p);

    int send(Peer& p, WrOpcode op, uint64_t wr_id, uint64_t local, uint32_t length, uint64_t remote_va = 0,
             uint32_t rkey = 0, uint32_t flags = kSignaled);
    int receive(Peer& p, uint64_t wr_id, uint64_t local, uint32_t length);

    /// Runs until nothing happens any more (or `limit`).
    void settle(SimTime limit = SimTime::s(20));
    /// Runs until `done`, at most `limit` longer. False if it never was.
    bool run_until(const std::function<bool()>& done, SimTime limit = SimTime::s(20));
    /// Completions of a peer since the last call, "1:SUCCESS 2:WR_FLUSH_ERR".
    std::string completions(Peer& p);
    /// Applies all pending payload, so that memory can be looked at.
    void show_memory();
    [[nodiscard]] uint64_t counter(size_t host, const std::string& name);

    TestMemory memory;
    std::vector<std::unique_ptr<TestSink>> sinks;
    std::vector<std::unique_ptr<WireTap>> taps;

  private:
    RigOptions options_;
    std::unique_ptr<fabric::Fabric> fabric_;
    uint32_t next_space_ = 1;
};

}  // namespace simverbs::test
