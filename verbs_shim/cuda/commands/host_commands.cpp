// nvidia-smi, lsmod and modprobe on simulated hosts with GPUs, and where their other commands begin.
#include <cstdio>
#include <cstring>
#include <string_view>

#include "verbs_shim/cuda/commands/commands.hpp"

using namespace simverbs::cuda;
using namespace simverbs::protocol;

namespace {

struct Module {
    const char* name;
    GpuModule bit;
    const char* uses;
};
constexpr Module kModules[] = {{"nvidia_peermem", kModulePeermem, "ib_uverbs,nvidia"},
                               {"gdrdrv", kModuleGdrdrv, "nvidia"}};

void print_uuid(const GpuInfo& gpu) {
    std::printf("GPU-");
    for (size_t i = 0; i < sizeof gpu.uuid; ++i)
        std::printf("%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", gpu.uuid[i]);
}

int list_gpus() {
    for (uint32_t n = 0; n < calls()->count(); ++n) {
        std::printf("GPU %u: %s (UUID: ", n, calls()->info(n)->name);
        print_uuid(*calls()->info(n));
        std::printf(")\n");
    }
    return 0;
}

unsigned long long free_mib(uint32_t gpu) {
    GpuRequest r = make_request(GpuCall::MemoryInfo, gpu);
    GpuReply reply;
    (void)calls()->request(&r, &reply, nullptr);
    return reply.bytes >> 20;
}

int query_gpus() {
    std::printf("\n==============NVSMI LOG==============\n\n");
    std::printf("CUDA Version                              : %u.%u\n", calls()->driver_version() / 1000,
                calls()->driver_version() % 1000 / 10);
    std::printf("Attached GPUs                             : %u\n", calls()->count());
    for (uint32_t n = 0; n < calls()->count(); ++n) {
        const GpuInfo& gpu = *calls()->info(n);
        const unsigned long long total = gpu.bytes >> 20, available = free_mib(n), bar1 = gpu.bar1_bytes >> 20;
        char id[32];
        (void)pci_id_of(gpu, id, sizeof id);
        std::printf("GPU 0000%s\n", id);
        std::printf("    Product Name                          : %s\n    GPU UUID                              : ",
                    gpu.name);
        print_uuid(gpu);
        std::printf(
            "\n    PCI\n        Bus                               : 0x%02X\n        Bus Id                            "
            ": %s\n",
            gpu.pci_bus, id);
        std::printf(
            "    FB Memory Usage\n        Total                             : %llu MiB\n"
            "        Used                              : %llu MiB\n"
            "        Free                              : %llu MiB\n",
            total, total - available, available);
        std::printf("    BAR1 Memory Usage\n        Total                             : %llu MiB\n", bar1);
        std::printf("    NUMA node                             : %d\n", gpu.numa_node);
    }
    return 0;
}

int nvidia_smi(int argc, char** argv) {
    const std::string_view first = argc > 1 ? argv[1] : "";
    if (first == "-L" || first == "--list-gpus") return list_gpus();
    if (first == "topo" && argc > 2 && (std::string_view(argv[2]) == "-m" || std::string_view(argv[2]) == "--matrix")) {
        std::printf("%s", calls()->topology());
        return 0;
    }
    if (first.empty() || first == "-q" || first == "--query") return query_gpus();
    std::fprintf(stderr, "nvidia-smi: simulated hosts know -L, -q and topo -m\n");
    return 1;
}

uint32_t loaded_modules() {
    GpuRequest r = make_request(GpuCall::Modules, 0);
    GpuReply reply;
    return calls()->request(&r, &reply, nullptr) == 0 ? reply.flags : 0;
}

int lsmod() {
    const uint32_t loaded = loaded_modules();
    std::printf("%-23s %8s  Used by\n", "Module", "Size");
    for (const Module& m : kModules)
        if ((loaded & m.bit) != 0) std::printf("%-23s %8d  0\n", m.name, 16384);
    std::printf("%-23s %8d  %d\n", "nvidia", 97337344, 1);
    std::printf("%-23s %8d  %d\n", "ib_uverbs", 200704, 1);
    std::printf("%-23s %8d  %d\n", "mlx5_core", 2355200, 1);
    return 0;
}

/// A name with dashes is the one with underscores.
bool same_module(const char* a, const char* b) {
    for (; *a != '\0' && *b != '\0'; ++a, ++b)
        if ((*a == '-' ? '_' : *a) != (*b == '-' ? '_' : *b)) return false;
    return *a == *b;
}

int modprobe(int argc, char** argv) {
    bool remove = false;
    for (int i = 1; i < argc; ++i) {
        if (std::strcmp(argv[i], "-r") == 0 || std::strcmp(argv[i], "--remove") == 0) {
            remove = true;
            continue;
        }
        const Module* found = nullptr;
        for (const Module& m : kModules)
            if (same_module(argv[i], m.name)) found = &m;
        if (found == nullptr) {
            std::fprintf(stderr,
                         "modprobe: FATAL: Module %s not found: simulated hosts have nvidia_peermem and gdrdrv\n",
                         argv[i]);
            return 1;
        }
        GpuRequest r = make_request(remove ? GpuCall::ModuleUnload : GpuCall::ModuleLoad, 0);
        r.flags = found->bit;
        if (ask(r) != 0) return 1;
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const char* const slash = std::strrchr(argv[0], '/');
    const std::string_view name = slash == nullptr ? argv[0] : slash + 1;
    if (calls() == nullptr || calls()->open() != 0) {
        std::fprintf(stderr, "%s: not on a simulated host with GPUs\n", argv[0]);
        return 9;
    }
    if (name == "lsmod") return lsmod();
    if (name == "modprobe") return modprobe(argc, argv);
    if (name == "lspci") return commands::lspci(argc, argv);
    if (name == "setpci") return commands::setpci(argc, argv);
    if (name == "numactl") return commands::numactl(argc, argv);
    return nvidia_smi(argc, argv);
}
