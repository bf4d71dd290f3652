// A scenario inside a SystemC design: the fabric and its programs run beside a module of the design, on one clock.
//   hosted_fabric SCENARIO.yaml FOLDER
#include <iostream>
#include <systemc>

#include <tools/systemc/fabric_module.hpp>

namespace {

/// Stands for the rest of a design: counts its own cycles for as long as the scenario runs.
class Cycles : public sc_core::sc_module {
  public:
    Cycles(const sc_core::sc_module_name& name, const simverbs::systemc::FabricModule& fabric)
        : sc_module(name), fabric_(fabric) {
        SC_HAS_PROCESS(Cycles);
        SC_METHOD(on_cycle);
    }
    unsigned long count = 0;

  private:
    void on_cycle() {
        if (fabric_.has_ended()) return;
        ++count;
        next_trigger(10, sc_core::SC_NS);
    }
    const simverbs::systemc::FabricModule& fabric_;
};

}  // namespace

int sc_main(int argc, char** argv) {
    if (argc != 3) {
        std::cerr << "usage: hosted_fabric SCENARIO.yaml FOLDER\n";
        return 2;
    }
    try {
        simverbs::systemc::FabricOptions options;
        options.file = argv[1];
        options.out = argv[2];
        simverbs::systemc::FabricModule fabric("fabric", options);
        Cycles cycles("cycles", fabric);
        sc_core::sc_start();
        std::cout << fabric.summary() << "the design's clock stands at " << sc_core::sc_time_stamp().value()
                  << " ps after " << cycles.count << " cycles\n";
        return fabric.passed() ? 0 : 1;
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 2;
    }
}
