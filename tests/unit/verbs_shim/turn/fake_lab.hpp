// A lab without models: grants turns to unmodified programs that run with the preload library, smallest time first.
// Memory that a program registers is "written by DMA" once for every wait of a memory spinner.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "verbs_shim/protocol/shared_layout.hpp"

namespace simverbs::test {

class FakeLab {
  public:
    FakeLab();
    ~FakeLab();
    FakeLab(const FakeLab&) = delete;
    FakeLab& operator=(const FakeLab&) = delete;

    /// Adds a program; started by run(). Its standard output is collected.
    void add_program(std::vector<std::string> argv);

    struct Result {
        std::string output;
        int status = -1;  ///< as waitpid gives it
    };
    /// Until every program has ended, or nothing can go on (`stalled`), or the real time is over (`timed_out`).
    std::vector<Result> run(int timeout_s = 30);
    bool stalled = false;
    bool timed_out = false;
    uint64_t grants = 0;
    uint64_t probes = 0;
    int64_t last_clock_ps = 0;
    std::string who_waits;

  private:
    struct Process {
        int pid = 0, socket = -1, pidfd = -1;
        uint64_t dma_address = 0, dma_value = 0;
        uint64_t visible = 0;
    };
    struct Program {
        std::vector<std::string> argv;
        int pid = 0, out = -1;
        Result result;
        bool reaped = false;
    };

    void start(Program& program, uint32_t place);
    uint32_t reserve_slot(uint32_t process, int64_t clock_ps);
    void poll_sockets(int timeout_ms);
    void on_connection();
    void serve(uint32_t slot);
    bool step();
    int64_t ready_time(uint32_t slot, uint32_t& item) const;
    void grant(uint32_t slot, int64_t at, int64_t second, uint32_t item);
    void await_holder(uint32_t slot);
    void bury(uint32_t process, int64_t clock_ps);
    bool is_dead(uint32_t process) const;
    void bump(uint64_t key, int64_t stamp_ps);
    const protocol::SharedObject* find(uint64_t key) const;
    void collect(bool final);
    bool all_ended();

    protocol::LabShared* lab_ = nullptr;
    int lab_fd_ = -1, listener_ = -1;
    std::string path_;
    std::map<uint32_t, Process> processes_;
    std::vector<Program> programs_;
    std::vector<uint64_t> seen_visible_;
    uint32_t next_process_ = 0;
    int64_t deadline_real_ns_ = 0;
};

}  // namespace simverbs::test
