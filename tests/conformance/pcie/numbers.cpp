#include "tests/conformance/pcie/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tests/conformance/pcie/all_reduce_rig.hpp"
#include "tests/conformance/pcie/published.hpp"
#include "tests/conformance/pcie/rig.hpp"
#include "tests/conformance/pcie/staged.hpp"

namespace simverbs::test {

namespace {

using host::Complex;
using host::MemoryId;
using sim::SimTime;

std::string percent(double here, double published) {
    return fmt::format("{:+.1f} %", (here / published - 1) * 100);
}

double stream_gbps(Complex& c, Stream::Kind kind, MemoryId memory, uint32_t bytes) {
    Stream s(0, kind, memory, bytes, 256 << 10);
    run_streams(c, SimTime::us(400), s);
    return s.rate();
}
double stream_gbps(const host::PlatformSpec& p, Stream::Kind kind, MemoryId memory, uint32_t bytes) {
    Complex c(p);
    return stream_gbps(c, kind, memory, bytes);
}

NumberTable efficiency() {
    std::string t =
        "| link | bytes | write Gb/s | published | | read Gb/s | published | |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- |\n";
    for (const EfficiencyRow& r : kEfficiency) {
        const host::PlatformSpec p = one_adapter(r.link);
        const double write = stream_gbps(p, Stream::Kind::Write, host::kNearestMemory, r.bytes);
        const double read = stream_gbps(p, Stream::Kind::Read, host::kNearestMemory, r.bytes);
        t += fmt::format("| {} | {} | {:.1f} | {:.1f} | {} | {:.1f} | {:.1f} | {} |\n", host::to_string(r.link),
                         r.bytes, write, r.write_gbps, percent(write, r.write_gbps), read, r.read_gbps,
                         percent(read, r.read_gbps));
    }
    return {"efficiency", t};
}

NumberTable latency() {
    host::PlatformSpec p = two_socket({3, 8, 256});
    p.nics[0].upstream = under_bridge(0);
    Complex c(p);
    p.iommu.enabled = true;
    Complex iommu(p);
    const auto ns = [](Complex& h, MemoryId memory, uint64_t address, int64_t at) {
        return (h.dma_read(0, SimTime::us(at), {memory, address}, 64) - SimTime::us(at)).in_us() * 1000;
    };
    const double cold = ns(c, 0, 1 << 20, 1), warm = ns(c, 0, 1 << 20, 2), remote = ns(c, 1, 1 << 20, 3);
    const double walked = ns(iommu, 0, 1 << 20, 1);
    return {"latency", fmt::format("| 64 B by DMA read, gen3 x8 | ns | published |\n| --- | --- | --- |\n"
                                   "| from DRAM | {:.0f} | about 550 |\n"
                                   "| from the last-level cache | {:.0f} | 70 less |\n"
                                   "| from the other socket's DRAM | {:.0f} ({:.0f} % fewer requests) | 20 % fewer |\n"
                                   "| from DRAM, page unknown to the IOMMU | {:.0f} | 330 more |\n",
                                   cold, warm, remote, (1 - cold / remote) * 100, walked)};
}

NumberTable bar_window() {
    std::string t =
        "| bytes | store µs | published | | load µs | published | |\n| --- | --- | --- | --- | --- | --- | --- |\n";
    double worst = 0;
    for (const BarWindowRow& r : kGdrCopy) {
        Complex c(dgx_1v());
        const SimTime now = SimTime::us(5);
        const double store = (c.cpu_store(0, now, c.gpu_memory(0), r.bytes) - now).in_us();
        Complex d(dgx_1v());
        const double load = (d.cpu_load(0, now, d.gpu_memory(0), r.bytes) - now).in_us();
        worst = std::max({worst, std::abs(store / r.store_us - 1), std::abs(load / r.load_us - 1)});
        // Every other power of two: the chapter is short.
        if (std::bit_width(r.bytes) % 3 != 1) continue;
        t += fmt::format("| {} | {:.3f} | {:.3f} | {} | {:.2f} | {:.2f} | {} |\n", r.bytes, store, r.store_us,
                         percent(store, r.store_us), load, r.load_us, percent(load, r.load_us));
    }
    return {"bar1", t + fmt::format("\nThe largest difference at any of the {} published sizes: {:.1f} %.\n",
                                    kGdrCopy.size(), worst * 100)};
}

NumberTable peers() {
    struct Case {
        const char* what;
        uint16_t gpu;
        bool acs;
    };
    constexpr Case kCases[] = {{"one switch", 0, false},
                               {"one switch, ACS on", 0, true},
                               {"one host bridge", 3, false},
                               {"two host bridges of a socket", 1, false},
                               {"the other socket", 2, false}};
    std::string t =
        "| between adapter and GPU, gen4 x16 | relation | write GB/s | read GB/s | write of 64 B, ns |\n"
        "| --- | --- | --- | --- | --- |\n";
    for (const Case& k : kCases) {
        host::PlatformSpec p = two_socket();
        p.switches[0].acs = k.acs;
        Complex c(p), d(p), e(p);
        const double latency =
            (e.dma_write(0, SimTime::us(1), e.gpu_memory(k.gpu), 64) - SimTime::us(1)).in_us() * 1000;
        t += fmt::format("| {} | {} | {:.1f} | {:.1f} | {:.0f} |\n", k.what,
                         to_string(c.relation(0, c.gpu_agent(k.gpu))),
                         stream_gbps(c, Stream::Kind::Write, c.gpu_memory(k.gpu), 4096) / 8,
                         stream_gbps(d, Stream::Kind::Read, d.gpu_memory(k.gpu), 4096) / 8, latency);
    }
    return {"peers", t};
}

double copy_us(const host::PlatformSpec& p, bool in, uint64_t bytes) {
    struct Sink final : host::CopySink {
        void on_copy_done(uint64_t, SimTime visible_at) override { at = visible_at; }
        SimTime at;
    } sink;
    Complex c(p);
    host::CopySpec s;
    s.gpu = c.gpu_agent(1);
    (in ? s.to : s.from) = c.gpu_memory(1);
    s.bytes = bytes;
    c.submit(s, SimTime::zero(), sink);
    c.run_until(SimTime::max());
    return sink.at.in_us();
}

NumberTable copies() {
    std::string t =
        "| link | to the GPU: 8 B, µs | 1 MiB, µs | 1 GiB, GB/s | to the host: 8 B, µs | 1 MiB, µs | 1 GiB, GB/s |\n"
        "| --- | --- | --- | --- | --- | --- | --- |\n";
    for (const uint8_t g : {3, 4, 5}) {
        const host::PlatformSpec p = two_socket({g, 16, 256});
        t += fmt::format("| gen{} x16 |", g);
        for (const bool in : {true, false})
            t += fmt::format(" {:.1f} | {:.1f} | {:.1f} |", copy_us(p, in, 8), copy_us(p, in, 1 << 20),
                             (1 << 30) * 1e-3 / copy_us(p, in, 1 << 30));
        t += '\n';
    }
    return {"copies", t};
}

NumberTable all_reduce() {
    const auto row = [](const char* what, double here, double published) {
        return fmt::format("| {} | {:.0f} | {:.0f} | {} |\n", what, here, published, percent(here, published));
    };
    const auto alone = [](const char* what, double here) { return fmt::format("| {} | {:.1f} | | |\n", what, here); };
    const auto gbps = sim::BitRate::gbps;
    return {"all-reduce",
            "| all-reduce of 256 MiB by rings | bus GB/s | published | |\n| --- | --- | --- | --- |\n" +
                row("8 H100, NVSwitch", one_host(hgx_h100()), kRingOf8H100) +
                row("2 × 8 H100, 8 rails of 400 Gb/s", two_hosts(hgx_h100(), gbps(400)), kRailsOf16H100) +
                row("2 × 8 A100, 8 rails of 200 Gb/s", two_hosts(dgx_a100(), gbps(200)), kRailsOf16A100) +
                alone("8 H100 without NVLink, by PCIe", one_host(without_nvlink(hgx_h100()))) +
                alone("2 × 8 H100 without NVLink, 8 rails", two_hosts(without_nvlink(hgx_h100()), gbps(400)))};
}

NumberTable staged() {
    std::string t =
        "| 1 GB from GPU to GPU | staged, one leg after the other | staged by chunks of 4 MB | GPUDirect RDMA | wire "
        "alone |\n"
        "| --- | --- | --- | --- | --- |\n";
    struct Case {
        uint8_t generation;
        int64_t wire;
    };
    constexpr uint64_t kBytes = 1 << 30, kChunk = 4 << 20;
    for (const Case& k : {Case{3, 100}, {4, 200}, {5, 400}}) {
        const host::PlatformSpec p = two_socket({k.generation, 16, 256});
        const sim::BitRate wire = sim::BitRate::bps(k.wire * 1'000'000'000 / 4178 * 4096);
        const auto ms = [](sim::SimTime took) { return took.in_us() / 1000; };
        t += fmt::format("| gen{} x16, {} Gb/s | {:.0f} ms | {:.0f} ms | {:.0f} ms | {:.0f} ms |\n", k.generation,
                         k.wire, ms(GpuTransfer(p, wire).staged(kBytes, kBytes).took),
                         ms(GpuTransfer(p, wire).staged(kBytes, kChunk).took),
                         ms(GpuTransfer(p, wire).direct(kBytes).took), ms(wire.time_for(kBytes)));
    }
    return {"staged", t};
}

}  // namespace

std::vector<NumberTable> pcie_numbers() {
    return {efficiency(), latency(), peers(), copies(), staged(), bar_window(), all_reduce()};
}

}  // namespace simverbs::test
