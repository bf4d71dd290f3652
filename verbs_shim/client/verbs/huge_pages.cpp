#include "verbs_shim/client/verbs/huge_pages.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "verbs_shim/client/connection/raw_syscall.hpp"
#include "verbs_shim/client/verbs/explain.hpp"

namespace simverbs::client::verbs {

int check_allocation_type(const char* variable, unsigned vendor_id) noexcept {
    constexpr unsigned kMellanox = 0x02c9;
    constexpr long kHugePage = 2L << 20;
    const char* const wanted = std::getenv(variable);
    if (vendor_id != kMellanox || wanted == nullptr || std::strcmp(wanted, "HUGE") != 0) return 0;
    const long at =
        raw_syscall(SYS_mmap, 0, kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
    if (at < 0 && at > -4096) {
        return explain(ENOMEM,
                       "%s=HUGE: the machine has no free huge page for the queue. Reserve some "
                       "(vm.nr_hugepages) or use PREFER_HUGE.",
                       variable);
    }
    raw_syscall(SYS_munmap, at, kHugePage);
    return 0;
}

}  // namespace simverbs::client::verbs
