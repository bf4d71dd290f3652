#include "tools/simverbs/test_gpus.hpp"

#include <cstdlib>
#include <cstring>
#include <sstream>

namespace simverbs::tools {

namespace {

using sim::SimTime;

class PlainComplex final : public host::HostComplex {
  public:
    SimTime mmio_write(host::AgentId, SimTime now, uint32_t, host::MemoryId) override { return now + SimTime::ns(200); }
    SimTime least_mmio_write(host::AgentId) const override { return SimTime::ns(200); }
    SimTime dma_read(host::AgentId, SimTime now, host::DmaTarget, uint32_t) override { return now + SimTime::ns(500); }
    SimTime dma_write(host::AgentId, SimTime now, host::DmaTarget, uint32_t) override { return now + SimTime::ns(250); }
    SimTime interrupt(host::AgentId, SimTime now, host::MemoryId) override { return now + SimTime::us(1); }
    SimTime nominal_mmio_write(host::AgentId, uint32_t) const override { return SimTime::ns(200); }
    SimTime nominal_read(host::AgentId, uint32_t) const override { return SimTime::ns(500); }
    SimTime nominal_write(host::AgentId, uint32_t) const override { return SimTime::ns(250); }
    SimTime cpu_store(host::MemoryId, SimTime now, host::MemoryId, uint64_t bytes) override {
        return now + SimTime::ns(90) + SimTime::ps(static_cast<int64_t>(bytes) * 100);
    }
    SimTime cpu_load(host::MemoryId, SimTime now, host::MemoryId, uint64_t bytes) override {
        return now + SimTime::ns(900) + SimTime::ps(static_cast<int64_t>(bytes) * 1750);
    }
    void submit(const host::CopySpec& copy, SimTime now, host::CopySink& sink) override {
        // 25 GB/s and 6.5 us.
        sink.on_copy_done(copy.cookie, now + SimTime::ns(6500) + SimTime::ps(static_cast<int64_t>(copy.bytes) * 40));
    }
    SimTime next_event_time() const override { return SimTime::max(); }
    void run_until(SimTime) override {}
};

}  // namespace

server::HostGpusConfig test_gpus(const std::string& host) {
    server::HostGpusConfig config;
    const char* const text = std::getenv("SIMVERBS_TEST_GPUS");
    std::istringstream words(text == nullptr ? "" : text);
    unsigned count = 0;
    for (std::string word; words >> word;) {
        if (word == "no-peermem") config.peermem = false;
        if (word == "no-gdrdrv") config.gdrdrv = false;
        if (word == "no-dma-buf") config.dma_buf = false;
        if (word.rfind(host + "=", 0) == 0) count = static_cast<unsigned>(std::atoi(word.c_str() + host.size() + 1));
    }
    for (unsigned gpu = 0; gpu < count; ++gpu) {
        server::GpuConfig c;
        std::strcpy(c.info.name, "NVIDIA H100 80GB HBM3");
        c.info.uuid[0] = static_cast<uint8_t>(gpu + 1);
        c.info.bytes = uint64_t{80} << 30;
        c.info.bar1_bytes = uint64_t{128} << 30;
        c.info.pci_bus = 0x17 + 0x10 * gpu;
        for (unsigned peer = 0; peer < count; ++peer)
            if (peer != gpu) c.info.peers |= uint64_t{1} << peer;
        config.gpus.push_back(c);
    }
    return config;
}

std::unique_ptr<host::HostComplex> make_plain_complex() {
    return std::make_unique<PlainComplex>();
}

}  // namespace simverbs::tools
