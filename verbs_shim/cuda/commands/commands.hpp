// Commands of simulated hosts with GPUs: one program, named by how it is called.
#pragma once

#include <vector>

#include "verbs_shim/cuda/common/calls.hpp"
#include "verbs_shim/protocol/pci_info.hpp"

namespace simverbs::cuda::commands {

int lspci(int argc, char** argv);
int setpci(int argc, char** argv);
int numactl(int argc, char** argv);

/// The host's PCI functions, each port before what is below it; none: the server has none to show.
std::vector<protocol::PciInfo> pci_functions();
std::vector<protocol::NumaInfo> numa_nodes();

/// A slot as -s of lspci and setpci names it: [[[domain]:]bus:][device][.[function]], numbers in hexadecimal, '*' or
/// nothing for any.
class SlotFilter {
  public:
    /// False if it is none.
    bool parse(const char* text);
    [[nodiscard]] bool takes(const protocol::PciInfo& f) const {
        return is(domain_, f.domain) && is(bus_, f.bus) && is(device_, f.device) && is(function_, f.function);
    }

  private:
    static bool is(long wanted, unsigned number) { return wanted < 0 || wanted == static_cast<long>(number); }
    long domain_ = -1, bus_ = -1, device_ = -1, function_ = -1;
};

}  // namespace simverbs::cuda::commands
