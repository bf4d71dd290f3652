// What this machine can do, to set the shim's speed beside it: round trips of two processes that hand a futex to each
// other on one core, and bytes a second that process_vm_readv + process_vm_writev copy between two processes.
//
//     host_baseline futex [round trips]        prints round trips a second
//     host_baseline copy [bytes] [repeats]     prints bytes a second
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point t) {
    return std::chrono::duration<double>(Clock::now() - t).count();
}

void futex(std::atomic<uint32_t>& word, int operation, uint32_t value) {
    syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), operation, value, nullptr, nullptr, 0);
}

void wait_for(std::atomic<uint32_t>& word, uint32_t value) {
    for (uint32_t now = word.load(std::memory_order_acquire); now != value; now = word.load(std::memory_order_acquire))
        futex(word, FUTEX_WAIT, now);
}

void set(std::atomic<uint32_t>& word, uint32_t value) {
    word.store(value, std::memory_order_release);
    futex(word, FUTEX_WAKE, 1);
}

int ping_pong(uint32_t rounds) {
    auto* word = static_cast<std::atomic<uint32_t>*>(
        mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    const pid_t child = fork();
    if (child == 0) {
        for (uint32_t i = 0; i < rounds; ++i) {
            wait_for(*word, 2 * i + 1);
            set(*word, 2 * i + 2);
        }
        _exit(0);
    }
    const auto start = Clock::now();
    for (uint32_t i = 0; i < rounds; ++i) {
        set(*word, 2 * i + 1);
        wait_for(*word, 2 * i + 2);
    }
    const double s = seconds_since(start);
    waitpid(child, nullptr, 0);
    std::printf("%.0f\n", rounds / s);
    return 0;
}

int copy(size_t bytes, int repeats) {
    // Two other processes own the memory: this one moves it, as the fabric server does.
    std::vector<char> staging(bytes);
    pid_t owners[2];
    void* where = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int ready[2];
    if (pipe(ready) != 0) return 1;
    for (pid_t& owner : owners) {
        owner = fork();
        if (owner == 0) {
            prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
            std::memset(where, 1, bytes);
            const char c = 'r';
            if (write(ready[1], &c, 1) != 1) _exit(1);
            pause();
            _exit(0);
        }
        char c;
        if (read(ready[0], &c, 1) != 1) return 1;
    }
    const iovec local{staging.data(), bytes};
    const iovec remote{where, bytes};
    const auto start = Clock::now();
    bool ok = true;
    for (int i = 0; i < repeats; ++i) {
        ok = ok && process_vm_readv(owners[0], &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
        ok = ok && process_vm_writev(owners[1], &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
    }
    const double s = seconds_since(start);
    for (const pid_t owner : owners) {
        kill(owner, SIGKILL);
        waitpid(owner, nullptr, 0);
    }
    if (!ok) {
        std::fprintf(stderr, "process_vm_readv/writev are not allowed here\n");
        return 1;
    }
    std::printf("%.0f\n", static_cast<double>(bytes) * repeats / s);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1 && std::strcmp(argv[1], "futex") == 0)
        return ping_pong(argc > 2 ? static_cast<uint32_t>(std::strtoul(argv[2], nullptr, 10)) : 100000);
    if (argc > 1 && std::strcmp(argv[1], "copy") == 0)
        return copy(argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1048576, argc > 3 ? std::atoi(argv[3]) : 1000);
    std::fprintf(stderr, "usage: host_baseline futex [ROUND_TRIPS] | copy [BYTES] [REPEATS]\n");
    return 2;
}
