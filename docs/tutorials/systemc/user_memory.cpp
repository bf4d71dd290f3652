// A memory controller of the user's own, as a TLM-2.0 target, in the place of a host's: real programs' DMA goes through
// it.
//   user_memory SCENARIO.yaml FOLDER HOST/PART NANOSECONDS
#include <tlm_utils/simple_target_socket.h>

#include <cstdlib>
#include <iostream>
#include <systemc>
#include <tlm>

#include <tools/systemc/fabric_module.hpp>

namespace {

/// One access after the other, each of the same latency, 64 bytes in 2 ns.
class SlowMemory : public sc_core::sc_module {
  public:
    SlowMemory(const sc_core::sc_module_name& name, const sc_core::sc_time& latency)
        : sc_module(name), socket("socket"), latency_(latency) {
        socket.register_b_transport(this, &SlowMemory::b_transport);
    }
    tlm_utils::simple_target_socket<SlowMemory> socket;
    unsigned long reads = 0, writes = 0;

  private:
    void b_transport(tlm::tlm_generic_payload& transfer, sc_core::sc_time& delay) {
        ++(transfer.is_read() ? reads : writes);
        const sc_core::sc_time arrival = sc_core::sc_time_stamp() + delay;
        const sc_core::sc_time begin = std::max(arrival, free_at_);
        free_at_ = begin + sc_core::sc_time((transfer.get_data_length() + 63) / 64 * 2, sc_core::SC_NS);
        delay = free_at_ + latency_ - sc_core::sc_time_stamp();
        transfer.set_response_status(tlm::TLM_OK_RESPONSE);
    }
    sc_core::sc_time latency_, free_at_;
};

}  // namespace

int sc_main(int argc, char** argv) {
    if (argc != 5) {
        std::cerr << "usage: user_memory SCENARIO.yaml FOLDER HOST/PART NANOSECONDS\n";
        return 2;
    }
    try {
        simverbs::systemc::FabricOptions options;
        options.file = argv[1];
        options.out = argv[2];
        simverbs::systemc::FabricModule fabric("fabric", options);
        SlowMemory memory("memory", sc_core::sc_time(std::atof(argv[4]), sc_core::SC_NS));
        fabric.in_place_of(argv[3]).bind(memory.socket);
        sc_core::sc_start();
        std::cout << fabric.summary() << argv[3] << ": " << memory.reads << " reads, " << memory.writes << " writes\n";
        return fabric.passed() ? 0 : 1;
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 2;
    }
}
