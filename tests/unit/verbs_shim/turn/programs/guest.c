/* What unmodified programs do with time, threads, children and memory; one scenario per first argument. Prints what a
 * deterministic lab makes always the same. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

static long long now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* --- threads ---------------------------------------------------------------------------------------------------- */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int whose, rounds = 1000;

static void* pong(void* arg) {
    int me = (int)(intptr_t)arg;
    for (int i = 0; i < rounds; ++i) {
        pthread_mutex_lock(&mutex);
        while (whose != me) pthread_cond_wait(&cond, &mutex);
        whose = 1 - me;
        pthread_cond_signal(&cond);
        pthread_mutex_unlock(&mutex);
    }
    return (void*)(intptr_t)(me + 40);
}

static int ping_pong(void) {
    pthread_t t[2];
    void* r[2];
    long long t0 = now_ns();
    for (int i = 0; i < 2; ++i)
        if (pthread_create(&t[i], NULL, pong, (void*)(intptr_t)i)) return 1;
    for (int i = 0; i < 2; ++i) pthread_join(t[i], &r[i]);
    printf("%d %d %lld\n", (int)(intptr_t)r[0], (int)(intptr_t)r[1], now_ns() - t0);
    return 0;
}

static sem_t sem;
static pthread_barrier_t barrier;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static int order[16], num_order;

static void* worker(void* arg) {
    int me = (int)(intptr_t)arg;
    usleep((useconds_t)(1000 * (4 - me)));
    pthread_rwlock_wrlock(&rwlock);
    order[num_order++] = me;
    usleep(100);
    pthread_rwlock_unlock(&rwlock);
    pthread_barrier_wait(&barrier);
    sem_post(&sem);
    return NULL;
}

static int sync_objects(void) {
    pthread_t t[4];
    sem_init(&sem, 0, 0);
    pthread_barrier_init(&barrier, NULL, 4);
    for (int i = 0; i < 4; ++i) pthread_create(&t[i], NULL, worker, (void*)(intptr_t)i);
    for (int i = 0; i < 4; ++i) sem_wait(&sem);
    for (int i = 0; i < 4; ++i) pthread_join(t[i], NULL);
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 5;
    long long t0 = now_ns();
    int timed = sem_timedwait(&sem, &until);
    printf("%d%d%d%d sem %d %d after %lld s\n", order[0], order[1], order[2], order[3], timed, errno == ETIMEDOUT,
           (now_ns() - t0) / 1000000000);
    pthread_mutex_lock(&mutex);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 7;
    t0 = now_ns();
    int rc = pthread_cond_timedwait(&cond, &mutex, &until);
    printf("cond %d after %lld s\n", rc == ETIMEDOUT, (now_ns() - t0) / 1000000000);
    return 0;
}

static volatile int flag;
static void* set_flag_later(void* arg) {
    (void)arg;
    usleep(2000);
    flag = 1;
    usleep(2000);
    return NULL;
}
static int flag_spin(int with_yield) {
    pthread_t t;
    long long t0 = now_ns();
    pthread_create(&t, NULL, set_flag_later, NULL);
    while (!flag)
        if (with_yield) sched_yield();
    printf("flag after %lld ms\n", (now_ns() - t0) / 1000000);
    pthread_join(t, NULL);
    return 0;
}

/* --- clocks and alarms ------------------------------------------------------------------------------------------ */
static int sleeper(int ms) {
    for (int i = 0; i < 3; ++i) {
        usleep((useconds_t)(ms * 1000));
        printf("%lld\n", now_ns() / 1000);
        fflush(stdout);
    }
    return 0;
}

static volatile sig_atomic_t alarms;
static void on_alarm(int s) {
    (void)s;
    ++alarms;
}

static int alarm_while_reading_clocks(void) {
    signal(SIGALRM, on_alarm);
    long long t0 = now_ns();
    alarm(1);
    unsigned long long n = 0;
    while (!alarms) {
        n += (unsigned long long)now_ns() & 1;
        if (now_ns() - t0 > 3000000000LL) break;
        usleep(1000);
    }
    (void)n;
    printf("alarm %d at %lld ms\n", (int)alarms, (now_ns() - t0) / 1000000);
    struct itimerval it = {{0, 250000}, {0, 250000}};
    setitimer(ITIMER_REAL, &it, NULL);
    for (int i = 0; i < 4; ++i) pause();
    printf("alarms %d at %lld ms\n", (int)alarms, (now_ns() - t0) / 1000000);
    it.it_value.tv_usec = it.it_interval.tv_usec = 0;
    setitimer(ITIMER_REAL, &it, NULL);
    alarm(2);
    unsigned left = sleep(10);
    printf("sleep left %u errno %d\n", left, errno == EINTR);
    sigset_t set;
    int got = 0;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    alarm(3);
    sigwait(&set, &got);
    printf("sigwait %d at %lld s, handler ran %d\n", got == SIGALRM, (now_ns() - t0) / 1000000000, (int)alarms);
    return 0;
}

static int tsc(void) {
    unsigned aux;
    unsigned long long last = __rdtsc();
    int bad = 0;
    for (int i = 0; i < 2000; ++i) {
        unsigned long long t = i & 1 ? __rdtsc() : __rdtscp(&aux);
        if (t <= last) ++bad;
        last = t;
    }
    long long n0 = now_ns();
    unsigned long long c0 = __rdtsc();
    usleep(100000);
    unsigned long long c1 = __rdtsc();
    long long n1 = now_ns();
    printf("bad %d khz %llu\n", bad, (c1 - c0) * 1000 / (unsigned long long)((n1 - n0) / 1000));
    return 0;
}

/* An rdtsc that can be patched, because of what follows it; and one that cannot. */
extern unsigned char patchable[], entered_behind[];
static __attribute__((noinline, noclone)) unsigned long long read_patchable(void) {
    unsigned long long value;
    asm volatile(".balign 64\n.globl patchable\npatchable: rdtsc\n shl $32, %%rdx\n or %%rdx, %%rax"
                 : "=a"(value)
                 :
                 : "rdx");
    return value;
}
static unsigned long long read_trapping(void) {
    unsigned long long value;
    asm volatile("rdtsc\n nop\n shl $32, %%rdx\n or %%rdx, %%rax" : "=a"(value) : : "rdx");
    return value;
}

/* Branches to the instruction behind the rdtsc if `jump`. */
static __attribute__((noinline, noclone)) unsigned long long read_or_jump(int jump) {
    unsigned long long value;
    asm volatile(
        "mov $7, %%eax\n mov $1, %%edx\n test %1, %1\n jnz 1f\n .balign 64\n"
        ".globl entered_behind\nentered_behind: rdtsc\n 1: shl $32, %%rdx\n or %%rdx, %%rax"
        : "=&a"(value)
        : "r"(jump)
        : "rdx", "cc");
    return value;
}

/* Everything but RAX and RDX is as it was: general and vector registers, carry and overflow, what lies below the stack.
 */
static __attribute__((noinline, noclone)) int keeps_registers(void) {
    unsigned long long in[12], out[12], below = 0;
    unsigned char carry = 0, overflow = 0, mixed = 0;
    double x = 1.5, y = 0;
    for (int i = 0; i < 12; ++i) in[i] = 0x1111111111111111ULL * (unsigned)(i + 1);
    asm volatile(
        "push %%rbp\n push %%rbx\n lea -256(%%rsp), %%rsp\n movq %[x], %%xmm13\n movq $42, -8(%%rsp)\n"
        "mov %[in], %%rbp\n mov (%%rbp), %%rbx\n mov 8(%%rbp), %%rcx\n mov 16(%%rbp), %%rsi\n"
        "mov 24(%%rbp), %%r8\n mov 32(%%rbp), %%r9\n mov 40(%%rbp), %%r10\n mov 48(%%rbp), %%r11\n"
        "mov 56(%%rbp), %%r12\n mov 64(%%rbp), %%r13\n mov 72(%%rbp), %%r15\n"
        "mov $0x7fffffff, %%eax\n add $1, %%eax\n stc\n"
        ".balign 64\n rdtsc\n mov 80(%%rbp), %%rax\n seto %%dl\n mov $0, %%ah\n setc %%ah\n"
        "mov %%rbx, (%%rdi)\n mov %%rcx, 8(%%rdi)\n mov %%rsi, 16(%%rdi)\n mov %%r8, 24(%%rdi)\n"
        "mov %%r9, 32(%%rdi)\n mov %%r10, 40(%%rdi)\n mov %%r11, 48(%%rdi)\n mov %%r12, 56(%%rdi)\n"
        "mov %%r13, 64(%%rdi)\n mov %%r15, 72(%%rdi)\n mov -8(%%rsp), %%rcx\n movq %%xmm13, %%rsi\n"
        "lea 256(%%rsp), %%rsp\n pop %%rbx\n pop %%rbp\n mov %%rsi, %[y]\n mov %%rcx, %[below]\n"
        "mov %%dl, %[o]\n mov %%ah, %[c]\n mov %%al, %[m]"
        : [y] "=m"(y), [below] "=m"(below), [o] "=m"(overflow), [c] "=m"(carry), [m] "=m"(mixed)
        : [x] "r"(x), [in] "r"(in), "D"(out)
        : "rax", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "r12", "r13", "r15", "xmm13", "memory", "cc");
    int bad = y != x || below != 42 || carry != 1 || overflow != 1 || mixed != (in[10] & 0xFF);
    for (int i = 0; i < 10; ++i) bad += out[i] != in[i];
    return bad;
}

static int tsc_patch(void) {
    long different = 0, bad = 0;
    unsigned long long first[200], behind = 0;
    for (int i = 0; i < 200; ++i) first[i] = read_patchable();
    usleep(1000);
    unsigned long long base = 0;
    for (int i = 0; i < 200; ++i) {
        unsigned long long c = read_trapping();
        if (i == 0) base = c;
        long long off = (long long)(c - base - (first[i] - first[0]));
        if (off < -1 || off > 1) ++different; /* ticks are rounded down */
    }
    for (int i = 0; i < 20; ++i) bad += keeps_registers();
    for (int i = 0; i < 20; ++i) behind = read_or_jump(0);
    for (int i = 0; i < 20; ++i) bad += read_or_jump(1) != 0x100000007ULL;
    fflush(stdout);
    if (fork() == 0) _exit(read_patchable() > behind ? 0 : 1);
    int status = -1;
    wait(&status);
    printf("different %ld bad %ld patched %d %d child %d\n", different, bad, patchable[0] == 0xE9,
           entered_behind[0] == 0xE9, status);
    return 0;
}

/* Waits for times to come by doing nothing but read the clock, as a calibration of the time stamp counter does. */
static int clock_spin(void) {
    long reads = 0, late = 0, bad_ratio = 0;
    for (int i = 0; i < 200; ++i) {
        long long ns = 100000 + 10000 * i;
        struct timespec a, b;
        unsigned long long c = __rdtsc();
        clock_gettime(CLOCK_MONOTONIC, &a);
        long long passed;
        do {
            clock_gettime(CLOCK_MONOTONIC, &b);
            passed = (b.tv_sec - a.tv_sec) * 1000000000LL + b.tv_nsec - a.tv_nsec;
            ++reads;
        } while (passed < ns);
        c = __rdtsc() - c;
        long long khz = (long long)c * 1000000 / passed;
        if (passed - ns > 2000) ++late;
        if (khz < 2490000 || khz > 2510000) ++bad_ratio;
    }
    printf("late %ld bad ratio %ld few %d\n", late, bad_ratio, reads < 400000);
    return 0;
}

static void on_segv(int s, siginfo_t* i, void* c) {
    (void)s;
    (void)c;
    printf("own handler %d\n", i->si_addr == (void*)8);
    fflush(stdout);
    _exit(0);
}
static int segv(void) {
    struct sigaction a, old;
    memset(&a, 0, sizeof a);
    a.sa_sigaction = on_segv;
    a.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &a, NULL);
    sigaction(SIGSEGV, NULL, &old);
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    printf("mine %d tsc %d\n", old.sa_sigaction == on_segv, __rdtsc() != 0);
    fflush(stdout);
    *(volatile int*)8 = 1;
    return 1;
}

/* --- children --------------------------------------------------------------------------------------------------- */
static int children(const char* self) {
    long long t0 = now_ns();
    for (int i = 0; i < 3; ++i) {
        if (fork() == 0) {
            usleep((useconds_t)(30000 - 10000 * i));
            _exit(10 + i);
        }
    }
    for (int i = 0; i < 3; ++i) {
        int status = 0;
        pid_t pid = wait(&status);
        printf("child %d %d at %lld ms\n", pid > 0, WEXITSTATUS(status), (now_ns() - t0) / 1000000);
    }
    printf("none %d\n", wait(NULL) == -1 && errno == ECHILD);
    fflush(stdout);
    char command[512];
    snprintf(command, sizeof command, "%s sleeper 5", self);
    int rc = system(command);
    printf("system %d\n", rc);
    fflush(stdout);
    if (fork() == 0) {
        execlp("sh", "sh", "-c", "exit 7", (char*)NULL);
        _exit(1);
    }
    int status = 0;
    wait(&status);
    printf("exec %d\n", WEXITSTATUS(status));
    fflush(stdout);
    char* const argv[] = {"sh", "-c", "exit 8", NULL};
    char* const none[] = {NULL};
    pid_t pid;
    rc = posix_spawnp(&pid, "sh", NULL, NULL, argv, none);
    waitpid(pid, &status, 0);
    printf("spawn %d %d\n", rc, WEXITSTATUS(status));
    return 0;
}

static int randoms(void) {
    unsigned char b[8];
    srand48(getpid() * time(NULL));
    srand((unsigned)getpid());
    getrandom(b, sizeof b, 0);
    printf("%ld %d %02x%02x%02x\n", lrand48(), rand(), b[0], b[1], b[2]);
    return 0;
}

/* --- memory spinning -------------------------------------------------------------------------------------------- */
static volatile uint64_t* registered(void) {
    int n = 0;
    struct ibv_device** list = ibv_get_device_list(&n);
    if (n < 1) exit(3);
    struct ibv_context* c = ibv_open_device(list[0]);
    if (!c) exit(4);
    struct ibv_pd* pd = ibv_alloc_pd(c);
    void* p = aligned_alloc(4096, 16384);
    memset(p, 0, 16384);
    if (!pd || !ibv_reg_mr(pd, p, 16384, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE)) exit(5);
    return p;
}

static int memory(int n) {
    volatile uint64_t* p = registered();
    struct timespec a, b;
    for (int i = 1; i <= n; ++i) {
        while (*p < (uint64_t)i) {
        }
        p[1024 + (i & 511)] = (uint64_t)i;
        if (*p != (uint64_t)i) return 6;
    }
    (void)a;
    (void)b;
    printf("%d\n", n);
    return 0;
}

#define SPIN_AT(name, reg, body)                                                     \
    static int spin_##name(void* p) {                                                \
        long before = 0, after = 0;                                                  \
        __asm__ volatile(body /* NOLINT(bugprone-macro-parentheses): the template */ \
                         : "=&r"(after), "=&r"(before)                               \
                         : reg(p)                                                    \
                         : "rax", "rcx", "rdx", "r8", "r9", "cc", "memory");         \
        return after == before + 1;                                                  \
    }
#define SPIN(name, body) SPIN_AT(name, "r", body)
/* Each waits for the counter's next value with another instruction. before: first value, after: last. */
SPIN(mov64, "mov (%2), %1\n1: mov (%2), %0\ncmp %0, %1\nje 1b")
SPIN(mov32, "mov (%2), %1\n1: mov (%2), %k0\ncmp %k0, %k1\nje 1b")
/* %%ah cannot be named beside a register that is newer than it. */
SPIN_AT(mov8_high, "D", "mov (%2), %1\nmov %1, %%rcx\n1: movb (%2), %%ah\ncmp %%ah, %%cl\nje 1b\nmov (%2), %0")
SPIN(movzx8, "mov (%2), %1\nmov %1, %%rcx\n1: movzbl (%2), %%edx\ncmp %%dl, %%cl\nje 1b\nmov (%2), %0")
SPIN(movsx16, "mov (%2), %1\nmov %1, %%rcx\n1: movswq (%2), %%r8\ncmp %%r8w, %%cx\nje 1b\nmov (%2), %0")
SPIN(movslq, "mov (%2), %1\nmov %1, %%rcx\n1: movslq (%2), %%r9\ncmp %%r9, %%rcx\nje 1b\nmov (%2), %0")
SPIN(cmp_mr, "mov (%2), %1\n1: cmp %1, (%2)\nje 1b\nmov (%2), %0")
SPIN(cmp_rm_sib, "mov (%2), %1\nmov $2, %%ecx\n1: cmp -16(%2,%%rcx,8), %1\nje 1b\nmov (%2), %0")
SPIN(cmp_byte, "mov (%2), %1\nmov %1, %%rcx\n1: cmpb %%cl, (%2)\nje 1b\nmov (%2), %0")
SPIN(sub, "mov (%2), %1\n1: mov %1, %%r8\nsub (%2), %%r8\njz 1b\nmov (%2), %0")
SPIN(sse, "mov (%2), %1\nmovq %1, %%xmm0\n1: movdqu (%2), %%xmm1\nmovq %%xmm1, %0\ncmp %0, %1\nje 1b")

static int forms(void) {
    void* p = (void*)registered();
    int ok = 1;
#define RUN(name)                    \
    do {                             \
        int r = spin_##name(p);      \
        printf("%s %d\n", #name, r); \
        ok = ok && r;                \
    } while (0)
    RUN(mov64);
    RUN(mov32);
    RUN(mov8_high);
    RUN(movzx8);
    RUN(movsx16);
    RUN(movslq);
    RUN(cmp_mr);
    RUN(cmp_rm_sib);
    RUN(cmp_byte);
    RUN(sub);
    RUN(sse);
    return !ok;
}

static int compute(void) {
    volatile unsigned long x = 1;
    for (long i = 0; i < 100000000; ++i) x = x * 3 + 1;
    printf("%lu\n", x);
    return 0;
}

/* --- libc's own mmap is patched, as UCX patches it; the hook waits for a lock that another thread holds --------------
 */
static volatile int hooked;

static void* hook(void* at, size_t bytes, int protection, int flags, int fd, long offset) {
    if (hooked) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    return (void*)syscall(SYS_mmap, at, bytes, protection, flags, fd, offset);
}

static void* holds_the_lock(void* nothing) {
    pthread_mutex_lock(&mutex);
    hooked = 1;
    usleep(2000);
    pthread_mutex_unlock(&mutex);
    return nothing;
}

static void* counts(void* counter) {
    __atomic_fetch_add((int*)counter, 1, __ATOMIC_RELAXED);
    return NULL;
}

static int hooked_mmap(void) {
    enum { THREADS = 6 };
    uint8_t jump[12] = {0x48, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xE0}; /* mov $hook, %rax; jmp *%rax */
    void* const to = (void*)&hook;
    memcpy(jump + 2, &to, sizeof to);
    uint8_t* const code = dlsym(dlopen("libc.so.6", RTLD_NOW), "mmap");
    uint8_t* const page = (uint8_t*)((uintptr_t)code & ~(uintptr_t)4095);
    if (mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return 3;
    memcpy(code, jump, sizeof jump);
    pthread_t holder, made[THREADS];
    int ran = 0;
    if (pthread_create(&holder, NULL, &holds_the_lock, NULL) != 0) return 4;
    usleep(1000);
    const long long began = now_ns();
    for (int i = 0; i < THREADS; ++i)
        if (pthread_create(&made[i], NULL, &counts, &ran) != 0) return 5;
    const long long took = now_ns() - began;
    for (int i = 0; i < THREADS; ++i) pthread_join(made[i], NULL);
    pthread_join(holder, NULL);
    printf("%d threads, waited %d\n", ran, took > 900000 && took < 1300000);
    return 0;
}

int main(int argc, char** argv) {
    const char* what = argc > 1 ? argv[1] : "";
    int n = argc > 2 ? atoi(argv[2]) : 0;
    if (!strcmp(what, "ping_pong")) return ping_pong();
    if (!strcmp(what, "clock_spin")) return clock_spin();
    if (!strcmp(what, "sync_objects")) return sync_objects();
    if (!strcmp(what, "flag_spin")) return flag_spin(n);
    if (!strcmp(what, "sleeper")) return sleeper(n);
    if (!strcmp(what, "alarm")) return alarm_while_reading_clocks();
    if (!strcmp(what, "tsc")) return tsc();
    if (!strcmp(what, "tsc_patch")) return tsc_patch();
    if (!strcmp(what, "segv")) return segv();
    if (!strcmp(what, "children")) return children(argv[0]);
    if (!strcmp(what, "randoms")) return randoms();
    if (!strcmp(what, "memory")) return memory(n);
    if (!strcmp(what, "forms")) return forms();
    if (!strcmp(what, "compute")) return compute();
    if (!strcmp(what, "hooked_mmap")) return hooked_mmap();
    return 2;
}
