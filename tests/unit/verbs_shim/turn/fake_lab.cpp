#include "tests/unit/verbs_shim/turn/fake_lab.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "verbs_shim/client/turn/hand_off.hpp"
#include "verbs_shim/protocol/messages.hpp"

extern char** environ;

namespace simverbs::test {

using namespace protocol;

namespace {

constexpr int64_t kLeastLatencyPs = 1'000'000;  // L
constexpr int64_t kLongestTurnPs = 100'000'000;
constexpr int64_t kStepPs = 100'000'000;
constexpr int64_t kLeapPs = 1'000'000'000;
constexpr int64_t kProbeAfterNs = 4'000'000;

int64_t real_ns() {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

long futex(std::atomic<uint32_t>& word, int op, uint32_t value, const timespec* timeout) {
    return syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), op, value, timeout, nullptr, 0);
}

Turn turn_of(const ThreadSlot& s) {
    return static_cast<Turn>(s.turn.load(std::memory_order_acquire));
}

void send_with_fds(int socket, const void* data, size_t bytes, const int* fds, int count) {
    iovec part{const_cast<void*>(data), bytes};
    alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int) * 2)] = {};
    msghdr m{};
    m.msg_iov = &part;
    m.msg_iovlen = 1;
    if (count > 0) {
        m.msg_control = space;
        m.msg_controllen = CMSG_SPACE(sizeof(int) * static_cast<size_t>(count));
        cmsghdr* c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int) * static_cast<size_t>(count));
        memcpy(CMSG_DATA(c), fds, sizeof(int) * static_cast<size_t>(count));
    }
    (void)sendmsg(socket, &m, MSG_NOSIGNAL);
}

}  // namespace

FakeLab::FakeLab() : seen_visible_(kMaxThreads, 0) {
    lab_fd_ = memfd_create("lab", MFD_CLOEXEC);
    if (ftruncate(lab_fd_, sizeof(LabShared)) != 0) abort();
    void* p = mmap(nullptr, sizeof(LabShared), PROT_READ | PROT_WRITE, MAP_SHARED, lab_fd_, 0);
    if (p == MAP_FAILED) abort();
    lab_ = static_cast<LabShared*>(p);
    lab_->magic = kMagic;
    lab_->version = kProtocolVersion;
    lab_->layout_hash = layout_hash();
    lab_->clock_mode = ClockMode::Virtual;
    lab_->lab_block = 16;
    lab_->seed = 1;
    lab_->realtime_at_zero_ns = 1'700'000'000'000'000'000;
    lab_->monotonic_at_zero_ns = 1'000'000'000'000;
    lab_->tsc_khz = 2'500'000;
    lab_->server_alive = 1;
    lab_->num_hosts = 1;
    strcpy(lab_->hosts[0].name, "h0");
    lab_->hosts[0].address = 0x0A000001;
    char folder[] = "/tmp/fake_lab_XXXXXX";
    if (mkdtemp(folder) == nullptr) abort();
    path_ = std::string(folder) + "/control";
    listener_ = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    sockaddr_un a{};
    a.sun_family = AF_UNIX;
    strcpy(a.sun_path, path_.c_str());
    if (bind(listener_, reinterpret_cast<sockaddr*>(&a), sizeof a) != 0 || listen(listener_, 64) != 0) abort();
}

FakeLab::~FakeLab() {
    lab_->server_alive = 0;
    for (auto& [index, p] : processes_) {
        if (p.pid > 0 && !is_dead(index)) kill(p.pid, SIGKILL);
        if (p.socket >= 0) close(p.socket);
        if (p.pidfd >= 0) close(p.pidfd);
    }
    for (Program& p : programs_) {
        if (p.pid > 0 && !p.reaped) {
            kill(p.pid, SIGKILL);
            waitpid(p.pid, nullptr, 0);
        }
        if (p.out >= 0) close(p.out);
    }
    close(listener_);
    munmap(lab_, sizeof(LabShared));
    close(lab_fd_);
    unlink(path_.c_str());
    rmdir(path_.substr(0, path_.rfind('/')).c_str());
}

void FakeLab::add_program(std::vector<std::string> argv) {
    programs_.push_back({std::move(argv), 0, -1, {}, false});
}

uint32_t FakeLab::reserve_slot(uint32_t process, int64_t clock_ps) {
    for (uint32_t i = 0; i < kMaxThreads; ++i) {
        ThreadSlot& s = lab_->slots[i];
        if (turn_of(s) != Turn::Free) continue;
        s.process = process;
        s.tid = 0;
        s.clock_ps = clock_ps;
        s.horizon_ps = clock_ps;
        s.slot_flags = 0;
        s.oldest_post_ps = INT64_MAX;
        s.turn = static_cast<uint32_t>(Turn::Reserved);
        lab_->num_slots = std::max(lab_->num_slots.load(), i + 1);
        return i;
    }
    abort();
}

void FakeLab::start(Program& program, uint32_t place) {
    const uint32_t process = next_process_++;
    lab_->processes[process].used = 1;
    lab_->processes[process].program = place;
    processes_[process] = {};
    const uint32_t slot = reserve_slot(process, 0);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) abort();
    program.out = ends[0];
    fcntl(program.out, F_SETFL, O_NONBLOCK);
    std::vector<std::string> words;
    for (char** e = environ; *e != nullptr; ++e) words.emplace_back(*e);
    words.push_back(std::string("LD_PRELOAD=") + getenv("SIMVERBS_TEST_PRELOAD"));
    words.push_back(std::string(kEnvSocket) + "=" + path_);
    words.push_back(std::string(kEnvHost) + "=h0");
    words.push_back(std::string(kEnvSlot) + "=" + std::to_string(slot));
    words.push_back(std::string(kEnvProgram) + "=" + std::to_string(place));
    std::vector<char*> envp, argv;
    for (std::string& w : words) envp.push_back(w.data());
    envp.push_back(nullptr);
    for (std::string& w : program.argv) argv.push_back(w.data());
    argv.push_back(nullptr);
    program.pid = fork();
    if (program.pid == 0) {
        personality(ADDR_NO_RANDOMIZE);
        dup2(ends[1], 1);
        execve(argv[0], argv.data(), envp.data());
        perror(argv[0]);
        _exit(127);
    }
    close(ends[1]);
}

void FakeLab::on_connection() {
    const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) return;
    HelloRequest hello;
    if (recv(fd, &hello, sizeof hello, 0) != sizeof hello) {
        close(fd);
        return;
    }
    uint32_t slot = kNoItem;
    for (uint32_t i = 0; i < lab_->num_slots; ++i) {  // exec: the same process again
        const ThreadSlot& s = lab_->slots[i];
        if (turn_of(s) == Turn::Free || turn_of(s) == Turn::Reserved || processes_[s.process].pid != hello.pid)
            continue;
        if (slot == kNoItem)
            slot = i;
        else
            lab_->slots[i].turn = static_cast<uint32_t>(Turn::Free);
    }
    if (slot == kNoItem) slot = hello.slot;
    if (slot >= kMaxThreads) slot = reserve_slot(next_process_++, 0);
    const uint32_t process = lab_->slots[slot].process;
    Process& p = processes_[process];
    if (p.socket >= 0) close(p.socket);
    p.socket = fd;
    p.pid = hello.pid;
    if (p.pidfd < 0) p.pidfd = static_cast<int>(syscall(SYS_pidfd_open, p.pid, 0));
    lab_->processes[process].used = 1;
    lab_->processes[process].pid = p.pid;
    HelloReply r{};
    r.h.sequence = hello.h.sequence;
    r.h.bytes = sizeof r;
    r.process = process;
    r.slot = slot;
    r.num_devices = 1;
    strcpy(r.devices[0].name, "mlx5_0");
    r.devices[0].num_ports = 1;
    const int arena = memfd_create("arena", MFD_CLOEXEC);
    if (ftruncate(arena, static_cast<off_t>(kArenaBytes)) != 0) abort();
    const int fds[] = {lab_fd_, arena};
    send_with_fds(fd, &r, sizeof r, fds, 2);
    close(arena);
}

void FakeLab::poll_sockets(int timeout_ms) {
    pollfd p{listener_, POLLIN, 0};
    while (poll(&p, 1, timeout_ms) == 1) {
        on_connection();
        timeout_ms = 0;
    }
    collect(false);
}

void FakeLab::collect(bool final) {
    for (Program& p : programs_) {
        char buffer[4096];
        ssize_t n = 0;
        while (p.out >= 0 && (n = read(p.out, buffer, sizeof buffer)) > 0)
            p.result.output.append(buffer, static_cast<size_t>(n));
        if (p.out >= 0 && n == 0 && final) {
            close(p.out);
            p.out = -1;
        }
    }
}

/// Enough of the control path for ibv_open_device, ibv_alloc_pd and ibv_reg_mr.
void FakeLab::serve(uint32_t slot) {
    ThreadSlot& s = lab_->slots[slot];
    Process& p = processes_[s.process];
    alignas(8) char buffer[kMaxMessage];
    const ssize_t n = recv(p.socket, buffer, sizeof buffer, MSG_DONTWAIT);
    s.yield = static_cast<uint32_t>(Yield::Horizon);
    if (n < static_cast<ssize_t>(sizeof(RequestHeader))) return;
    const auto& request = *reinterpret_cast<const RequestHeader*>(buffer);
    alignas(8) char reply[kMaxMessage] = {};
    auto& header = *reinterpret_cast<ReplyHeader*>(reply);
    header = {};
    header.sequence = request.sequence;
    size_t bytes = 1024;
    int fd = -1;
    if (request.op == Op::ReserveSlot) {
        const auto& r = *reinterpret_cast<const ReserveSlotRequest*>(buffer);
        uint32_t process = s.process;
        if (r.kind == 1) {
            process = next_process_++;
            processes_[process] = {};
            lab_->processes[process].used = 1;
        }
        reinterpret_cast<ReserveSlotReply*>(reply)->slot = reserve_slot(process, INT64_MAX / 2);
        bytes = sizeof(ReserveSlotReply);
    } else if (request.op == Op::RegMr) {
        p.dma_address = reinterpret_cast<const RegMrRequest*>(buffer)->addr;
        *reinterpret_cast<uint32_t*>(reply + sizeof header) = 1;
    } else if (request.op == Op::OpenDevice) {
        fd = eventfd(0, EFD_CLOEXEC);
        *reinterpret_cast<uint32_t*>(reply + sizeof header) = 1;
    } else {
        *reinterpret_cast<uint32_t*>(reply + sizeof header) = 1;
    }
    header.bytes = static_cast<uint16_t>(bytes);
    header.num_fds = fd >= 0 ? 1 : 0;
    s.clock_ps += 1'000'000;
    send_with_fds(p.socket, reply, bytes, &fd, fd >= 0 ? 1 : 0);
    if (fd >= 0) close(fd);
}

const SharedObject* FakeLab::find(uint64_t key) const {
    for (uint32_t at = object_slot(key), n = 0; n < kMaxObjects; ++n, at = (at + 1) % kMaxObjects) {
        if (lab_->objects[at].key == key) return &lab_->objects[at];
        if (lab_->objects[at].key == 0) return nullptr;
    }
    return nullptr;
}

void FakeLab::bump(uint64_t key, int64_t stamp_ps) {
    for (uint32_t at = object_slot(key);; at = (at + 1) % kMaxObjects) {
        SharedObject& o = lab_->objects[at];
        if (o.key != 0 && o.key != key) continue;
        o.key = key;
        o.stamp_ps = std::max(o.stamp_ps.load(), stamp_ps);
        ++o.value;
        return;
    }
}

int64_t FakeLab::ready_time(uint32_t slot, uint32_t& item) const {
    const ThreadSlot& s = lab_->slots[slot];
    item = kNoItem;
    if (turn_of(s) != Turn::Waiting || static_cast<Yield>(s.yield) != Yield::Wait) return s.clock_ps;
    if ((s.slot_flags & kSlotInterrupted) != 0) return std::max(s.clock_ps, last_clock_ps);
    int64_t ready = s.wait.deadline_ps;
    for (uint32_t i = 0; i < s.wait.num_items; ++i) {
        const WaitItem& w = s.wait.items[i];
        if (w.kind != WaitKind::Object) continue;
        const SharedObject* o = find(w.key);
        if ((o == nullptr ? 0 : o->value.load()) == w.value) continue;
        const int64_t at = std::max(s.clock_ps, (o == nullptr ? 0 : o->stamp_ps.load()) + w.latency_ps);
        if (at < ready) {
            ready = at;
            item = i;
        }
    }
    const Process& p = processes_.at(s.process);
    if ((s.wait.flags & kWaitMemory) != 0 && p.dma_address != 0) ready = std::min(ready, s.clock_ps + kLeastLatencyPs);
    if ((s.wait.flags & kWaitReadsClock) != 0) ready = std::min(ready, s.clock_ps + kStepPs);
    return ready == INT64_MAX ? ready : std::max(ready, s.clock_ps);
}

void FakeLab::grant(uint32_t slot, int64_t at, int64_t second, uint32_t item) {
    ThreadSlot& s = lab_->slots[slot];
    Process& p = processes_[s.process];
    const bool waits = static_cast<Yield>(s.yield) == Yield::Wait;
    s.woken_visible = 0;
    if (waits && (s.wait.flags & kWaitMemory) != 0 && item == kNoItem && p.dma_address != 0 &&
        at < s.wait.deadline_ps) {
        char path[64];
        snprintf(path, sizeof path, "/proc/%d/mem", p.pid);
        const int fd = open(path, O_RDWR | O_CLOEXEC);
        ++p.dma_value;
        if (pwrite(fd, &p.dma_value, sizeof p.dma_value, static_cast<off_t>(p.dma_address)) < 0) perror("DMA");
        close(fd);
        s.woken_visible = 1;
    }
    s.clock_ps = at;
    s.horizon_ps = std::min(at + kLongestTurnPs, second == INT64_MAX ? INT64_MAX : second + kLeastLatencyPs);
    s.oldest_post_ps = INT64_MAX;
    s.woken_by = waits ? item : kNoItem;
    last_clock_ps = std::max(last_clock_ps, at);
    ++grants;
    s.turn.store(static_cast<uint32_t>(Turn::Running), std::memory_order_release);
    futex(s.turn, FUTEX_WAKE, 1, nullptr);
}

void FakeLab::await_holder(uint32_t slot) {
    ThreadSlot& s = lab_->slots[slot];
    static protocol::TurnWait turn_wait;
    const auto gave_up = [&s] { return turn_of(s) != Turn::Running; };
    if (protocol::wait_awhile<client::turn::RawSystem>(turn_wait, {protocol::kShortSpin, 0}, gave_up,
                                                       [] { return false; }))
        return;
    int64_t next_probe = real_ns() + kProbeAfterNs;
    while (turn_of(s) == Turn::Running && real_ns() < deadline_real_ns_) {
        const uint32_t seen = lab_->server_word;
        lab_->server_sleeps = 1;
        constexpr timespec kMoment{0, 2'000'000};
        if (turn_of(s) == Turn::Running) futex(lab_->server_word, FUTEX_WAIT, seen, &kMoment);
        lab_->server_sleeps = 0;
        if (turn_of(s) != Turn::Running) return;
        poll_sockets(0);
        if (is_dead(s.process)) return bury(s.process, s.clock_ps);
        if (real_ns() < next_probe || s.in_shim != 0) continue;
        ++probes;
        ++s.probe_request;
        syscall(SYS_tgkill, processes_[s.process].pid, s.tid, kProbeSignal);
        next_probe = real_ns() + kProbeAfterNs;
    }
}

bool FakeLab::is_dead(uint32_t process) const {
    const auto it = processes_.find(process);
    if (it == processes_.end() || it->second.pidfd < 0) return false;
    pollfd p{it->second.pidfd, POLLIN, 0};
    return poll(&p, 1, 0) == 1;
}

void FakeLab::bury(uint32_t process, int64_t clock_ps) {
    for (uint32_t i = 0; i < lab_->num_slots; ++i) {
        if (lab_->slots[i].process != process) continue;
        lab_->slots[i].turn = static_cast<uint32_t>(Turn::Free);
        lab_->slots[i].process = kMaxProcesses - 1;
    }
    bump(object_key(ObjectKind::Process, process), clock_ps);
}

bool FakeLab::step() {
    uint32_t best = kNoItem, item = kNoItem;
    int64_t at = INT64_MAX, second = INT64_MAX;
    for (uint32_t i = 0; i < lab_->num_slots; ++i) {
        if (turn_of(lab_->slots[i]) == Turn::Free) continue;
        uint32_t by = kNoItem;
        const int64_t ready = ready_time(i, by);
        if (ready < at) {
            second = at;
            at = ready;
            best = i;
            item = by;
        } else {
            second = std::min(second, ready);
        }
    }
    if (best == kNoItem) return false;
    ThreadSlot& s = lab_->slots[best];
    if (turn_of(s) == Turn::Reserved) {
        while (turn_of(s) == Turn::Reserved && real_ns() < deadline_real_ns_) poll_sockets(1);
        return true;
    }
    if (turn_of(s) == Turn::Waiting) {
        const auto yield = static_cast<Yield>(s.yield);
        if (yield == Yield::Control) {
            serve(best);
            return true;
        }
        if (yield == Yield::Exit) {
            const uint32_t process = s.process;
            if ((s.slot_flags & kSlotProcessEnds) == 0) {
                s.turn = static_cast<uint32_t>(Turn::Free);
                return true;
            }
            while (!is_dead(process) && real_ns() < deadline_real_ns_) poll_sockets(1);
            bury(process, at);
            return true;
        }
        if (at - last_clock_ps > kLeapPs) {  // whoever was killed died now, not when it would have woken up
            bool buried = false;
            for (auto& [index, p] : processes_) {
                if (p.pid <= 0 || !is_dead(index)) continue;
                bury(index, last_clock_ps);
                p.pid = 0;
                buried = true;
            }
            if (buried) return true;
        }
        grant(best, at, second, item);
    }
    await_holder(best);
    return true;
}

bool FakeLab::all_ended() {
    bool all = true;
    for (Program& p : programs_) {
        if (!p.reaped && waitpid(p.pid, &p.result.status, WNOHANG) == p.pid) p.reaped = true;
        all = all && p.reaped;
    }
    return all;
}

std::vector<FakeLab::Result> FakeLab::run(int timeout_s) {
    deadline_real_ns_ = real_ns() + int64_t{timeout_s} * 1'000'000'000;
    for (uint32_t i = 0; i < programs_.size(); ++i) start(programs_[i], i);
    int idle = 0;
    while (!timed_out) {
        poll_sockets(0);
        timed_out = real_ns() > deadline_real_ns_;
        if (step()) {
            idle = 0;
            continue;
        }
        for (auto& [index, p] : processes_)
            if (p.pid > 0 && is_dead(index)) bury(index, last_clock_ps), p.pid = 0;
        if (all_ended()) break;
        poll_sockets(5);
        if (++idle > 100) {
            stalled = true;
            break;
        }
    }
    for (uint32_t i = 0; i < lab_->num_slots; ++i) {
        const ThreadSlot& s = lab_->slots[i];
        if (turn_of(s) == Turn::Free) continue;
        who_waits += "slot " + std::to_string(i) + " turn " + std::to_string(s.turn) + " yield " +
                     std::to_string(s.yield) + " clock " + std::to_string(s.clock_ps) + " in " + s.wait.what + "\n";
    }
    collect(true);
    std::vector<Result> results;
    for (Program& p : programs_) results.push_back(p.result);
    return results;
}

}  // namespace simverbs::test
