// Writes one capture for each link type, and tagged ones, in which two hosts use every operation once:
//   wire_sample_captures FOLDER
// What other readers make of them is checked by read_sample_captures.py.
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "models/wire/aeth_syndrome.hpp"
#include "models/wire/frame_builder.hpp"
#include "models/wire/opcode_table.hpp"
#include "models/wire/pcap_writer.hpp"
#include "models/wire/roce_udp_port.hpp"

namespace {

using namespace simverbs::wire;

constexpr std::size_t kMtu = 1024;

/// Two hosts, one connection of each kind between them; host 0 is the requester.
class Conversation {
  public:
    Conversation(LinkType link, bool tagged, const std::string& path) : link_(link), tagged_(tagged) {
        error_ = writer_.open(path, pcap_link_type_of(link));
        for (std::size_t i = 0; i < payload_.size(); ++i) payload_[i] = static_cast<std::uint8_t>(i * 7);
    }

    void request(Transport transport, BaseOpcode base, std::size_t bytes, std::size_t psns = 1, bool ack_req = false) {
        FrameSpec spec = addressed(0);
        Psn& psn = psn_[transport];
        spec.bth.opcode = make_opcode(transport, base);
        spec.bth.dest_qp = Qpn(0x100 + static_cast<std::uint32_t>(transport));
        spec.bth.psn = psn;
        spec.bth.ack_req = ack_req;
        spec.bth.se = find_opcode(spec.bth.opcode)->ends_message();
        if (find_opcode(spec.bth.opcode)->has_payload) spec.payload = std::span(payload_).first(bytes);
        spec.reth = {0x7F0000001000, 0x1234, static_cast<std::uint32_t>(dma_len_ != 0 ? dma_len_ : bytes)};
        emit(spec);
        psn += static_cast<std::int32_t>(psns);
    }

    /// A WRITE or SEND of two full packets and a rest.
    void message(Transport transport, BaseOpcode first, BaseOpcode middle, BaseOpcode last) {
        dma_len_ = 2 * kMtu + 37;
        request(transport, first, kMtu);
        request(transport, middle, kMtu);
        request(transport, last, 37, 1, transport == Transport::Rc || transport == Transport::Xrc);
        dma_len_ = 0;
    }

    /// `back`: how many PSNs before the newest one.
    void response(Transport transport, BaseOpcode base, std::int32_t back = 0, std::size_t bytes = 0,
                  Syndrome syndrome = Syndrome::ack(kUnlimitedCreditCode)) {
        FrameSpec spec = addressed(1);
        spec.bth.opcode = make_opcode(transport, base);
        spec.bth.dest_qp = Qpn(0x200 + static_cast<std::uint32_t>(transport));
        spec.bth.psn = psn_[transport].previous() - back;
        spec.aeth = {syndrome.encode(), ++msn_};
        spec.payload = std::span(payload_).first(bytes);
        emit(spec);
    }

    void congestion_notification() {
        FrameSpec spec = addressed(1);
        spec.traffic_class = 48 << 2;
        spec.bth.opcode = kCnpOpcode;
        spec.bth.becn = true;
        spec.bth.dest_qp = Qpn(0x200);
        emit(spec);
    }

    std::string finish() {
        const std::string closing = writer_.close();
        return error_.empty() ? closing : error_;
    }

  private:
    FrameSpec addressed(int from) const {
        const MacAddress mac[2] = {{{2, 0, 0, 0, 0, 1}}, {{2, 0, 0, 0, 0, 2}}};
        FrameSpec spec;
        spec.link = link_;
        spec.source_mac = mac[from];
        spec.destination_mac = mac[1 - from];
        if (tagged_) spec.vlan = VlanTag{3, false, 100, 0};
        spec.source_lid = static_cast<std::uint16_t>(1 + from);
        spec.destination_lid = static_cast<std::uint16_t>(2 - from);
        const bool ipv4 = link_ == LinkType::RoceV2Ipv4;
        spec.source_gid = ipv4 ? gid_from_ipv4(0x0A000001 + static_cast<unsigned>(from)) : link_local_gid(mac[from]);
        spec.destination_gid =
            ipv4 ? gid_from_ipv4(0x0A000002 - static_cast<unsigned>(from)) : link_local_gid(mac[1 - from]);
        spec.traffic_class = 26 << 2;
        spec.ecn = Ecn::Ect0;
        spec.udp_source_port = roce_udp_source_port(0, Qpn(0x100), Qpn(0x200));
        spec.deth = {0x11111111, Qpn(0x260)};
        spec.atomic_eth = {0x7F0000002000, 0x1234, 5, 6};
        spec.atomic_ack_eth = {41};
        spec.imm_dt = {0xCAFE0001};
        spec.ieth = {0x1234};
        spec.xrceth = {0x77};
        return spec;
    }

    void emit(const FrameSpec& spec) {
        const std::size_t size = build_frame(spec, frame_);
        if (size == 0) error_ = "no frame for " + std::string(opcode_name(spec.bth.opcode));
        time_ps_ += 1'234'567;
        const std::string& failed = writer_.append(time_ps_, std::span(frame_).first(size));
        if (error_.empty()) error_ = failed;
    }

    LinkType link_;
    bool tagged_;
    PcapWriter writer_;
    std::string error_;
    std::map<Transport, Psn> psn_ = {{Transport::Rc, Psn(0xFFFFF0)},
                                     {Transport::Uc, Psn(0x500)},
                                     {Transport::Ud, Psn(0)},
                                     {Transport::Xrc, Psn(0x900000)}};
    std::uint32_t msn_ = 0;
    std::size_t dma_len_ = 0;
    std::int64_t time_ps_ = 0;
    std::vector<std::uint8_t> payload_ = std::vector<std::uint8_t>(kMtu);
    std::vector<std::uint8_t> frame_ = std::vector<std::uint8_t>(2 * kMtu);
};

void reliable(Conversation& talk, Transport t) {
    using B = BaseOpcode;
    talk.message(t, B::SendFirst, B::SendMiddle, B::SendLast);
    talk.message(t, B::SendFirst, B::SendMiddle, B::SendLastImm);
    talk.message(t, B::SendFirst, B::SendMiddle, B::SendLastInvalidate);
    talk.response(t, B::Acknowledge);
    talk.message(t, B::WriteFirst, B::WriteMiddle, B::WriteLast);
    talk.message(t, B::WriteFirst, B::WriteMiddle, B::WriteLastImm);
    talk.response(t, B::Acknowledge);
    for (const B only : {B::SendOnly, B::SendOnlyImm, B::SendOnlyInvalidate, B::WriteOnly, B::WriteOnlyImm}) {
        talk.request(t, only, 0);
        talk.request(t, only, 13, 1, true);
    }
    talk.response(t, B::Acknowledge, 0, 0, Syndrome::ack(7));
    talk.request(t, B::ReadRequest, 2 * kMtu + 5, 3);
    talk.response(t, B::ReadResponseFirst, 2, kMtu);
    talk.response(t, B::ReadResponseMiddle, 1, kMtu);
    talk.response(t, B::ReadResponseLast, 0, 5);
    talk.request(t, B::ReadRequest, 100);
    talk.response(t, B::ReadResponseOnly, 0, 100);
    talk.request(t, B::CompareSwap, 0);
    talk.response(t, B::AtomicAcknowledge);
    talk.request(t, B::FetchAdd, 0);
    talk.response(t, B::AtomicAcknowledge);
    talk.request(t, B::SendOnly, 64, 1, true);
    talk.response(t, B::Acknowledge, 0, 0, Syndrome::rnr_nak(14));
    talk.request(t, B::WriteOnly, 64, 1, true);
    talk.response(t, B::Acknowledge, 0, 0, Syndrome::nak(NakCode::RemoteAccessError));
}

void write_sample(const std::string& path, LinkType link, bool tagged, bool xrc, int& failures) {
    using B = BaseOpcode;
    Conversation talk(link, tagged, path);
    if (xrc) {
        reliable(talk, Transport::Xrc);
    } else {
        reliable(talk, Transport::Rc);
        talk.message(Transport::Uc, B::SendFirst, B::SendMiddle, B::SendLast);
        talk.message(Transport::Uc, B::WriteFirst, B::WriteMiddle, B::WriteLastImm);
        talk.request(Transport::Uc, B::SendOnlyImm, 3);
        talk.request(Transport::Uc, B::WriteOnly, 0);
        talk.request(Transport::Ud, B::SendOnly, 77);
        talk.request(Transport::Ud, B::SendOnlyImm, 0);
        if (is_ethernet(link)) talk.congestion_notification();
    }
    const std::string error = talk.finish();
    if (error.empty()) return;
    std::fprintf(stderr, "%s: %s\n", path.c_str(), error.c_str());
    ++failures;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: wire_sample_captures FOLDER\n");
        return 2;
    }
    const std::string folder = argv[1];
    const std::map<std::string, LinkType> links = {{"infiniband", LinkType::InfiniBandLocal},
                                                   {"infiniband_grh", LinkType::InfiniBandGlobal},
                                                   {"roce_v1", LinkType::RoceV1},
                                                   {"roce_v2_ipv4", LinkType::RoceV2Ipv4},
                                                   {"roce_v2_ipv6", LinkType::RoceV2Ipv6}};
    int failures = 0;
    for (const auto& [name, link] : links) {
        write_sample(folder + "/" + name + ".pcap", link, false, false, failures);
        write_sample(folder + "/xrc_" + name + ".pcap", link, false, true, failures);
        if (is_ethernet(link)) write_sample(folder + "/tagged_" + name + ".pcap", link, true, false, failures);
    }
    return failures == 0 ? 0 : 1;
}
