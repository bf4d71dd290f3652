// One lab: simulated hosts with their NICs, the programs in it, and everything that they share. The models are built
// elsewhere and attached; what moves time is the Arbiter (virtual clock) or the WallLoop.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "models/hca/hca.hpp"
#include "models/host/payload_mover.hpp"
#include "sim/engine.hpp"
#include "sim/watcher.hpp"
#include "verbs_shim/protocol/messages.hpp"
#include "verbs_shim/server/client.hpp"
#include "verbs_shim/server/gpu/gpu_host.hpp"
#include "verbs_shim/server/lab_block.hpp"
#include "verbs_shim/server/lab_page.hpp"
#include "verbs_shim/server/live_memory.hpp"
#include "verbs_shim/server/nic_sink.hpp"
#include "verbs_shim/server/poller.hpp"
#include "verbs_shim/server/program_faults.hpp"
#include "verbs_shim/server/roster.hpp"

namespace simverbs::server {

struct NicConfig {
    std::string device;  ///< "mlx5_0"
    std::string netdev;  ///< "eth0", "ib0"
};
struct HostConfig {
    std::string name;
    uint32_t address = 0;  ///< simulated IPv4, host byte order
    std::vector<NicConfig> nics;
    HostGpusConfig gpus{};
};
struct LabConfig {
    std::string name;
    std::vector<HostConfig> hosts;
    uint64_t seed = 1;
    protocol::ClockMode clock = protocol::ClockMode::Virtual;
    bool explain = false;
    std::string gpu_libraries;  ///< folder of the stand-ins that programs on hosts with GPUs see; empty: none
};

/// Told what a user may want to read. All of it is in simulated order.
class LabObserver {
  public:
    virtual ~LabObserver() = default;
    /// One or two sentences of --explain, about something on `host`.
    virtual void on_explain(uint32_t host, uint32_t program, std::string_view text) = 0;
    /// A remark about the run itself ("not deterministic from here …").
    virtual void on_note(std::string_view text) = 0;
};

struct Nic {
    NicConfig config;
    hca::Hca* hca = nullptr;
    std::unique_ptr<NicSink> sink;
};
struct Host {
    std::string name;
    uint32_t address = 0;
    std::string sysfs_root;
    bool has_sysfs = false;  ///< the tree below sysfs_root exists
    std::vector<Nic> nics;
    std::unique_ptr<GpuHost> gpus;  ///< null: it has none
};

class RdmaCm;

class Lab {
  public:
    /// Takes a block of addresses, makes the lab page and the control socket. Throws std::runtime_error.
    Lab(const LabConfig& config, LabObserver& observer);
    Lab(const Lab&) = delete;
    Lab& operator=(const Lab&) = delete;
    ~Lab();

    // ---- the models
    [[nodiscard]] host::PayloadMover& mover() noexcept { return *mover_; }
    [[nodiscard]] hca::HostSink& sink(uint32_t host, uint32_t nic) { return *hosts_[host].nics[nic].sink; }
    /// The models are built, over memory() and with the sinks: hcas[host][nic], all in `engine`. Makes the hosts' sysfs
    /// trees. All of them must outlive the lab's programs, not the lab.
    void attach(sim::Engine& engine, host::PayloadMover& mover, const std::vector<std::vector<hca::Hca*>>& hcas);
    /// After that, for each host with GPUs: what lies between them and the host's memories.
    void attach_gpus(uint32_t host, GpuTiming timing);
    [[nodiscard]] sim::Engine& engine() noexcept { return *engine_; }
    /// Who looks at the engine at exact times from now on; nullptr: nobody.
    void set_watcher(sim::Watcher* watcher) noexcept { watcher_ = watcher; }
    /// Engine::run_until and Engine::run_window, with stops for the watcher.
    void run_engine_until(sim::SimTime t);
    void run_engine_window(sim::SimTime limit);
    /// Least time from something a thread does to anything that another party can notice (L).
    [[nodiscard]] sim::SimTime down_latency() const noexcept { return down_latency_; }
    /// Least time from an event in an HCA to its being visible to a program.
    [[nodiscard]] sim::SimTime up_latency() const noexcept { return up_latency_; }

    // ---- what programs share
    [[nodiscard]] protocol::LabShared& shared() noexcept { return *page_; }
    [[nodiscard]] const LabConfig& config() const noexcept { return config_; }
    [[nodiscard]] std::vector<Host>& hosts() noexcept { return hosts_; }
    [[nodiscard]] const std::string& socket_path() const noexcept { return socket_path_; }
    [[nodiscard]] const std::string& folder() const noexcept { return block_.folder(); }
    [[nodiscard]] LabObserver& observer() noexcept { return *observer_; }
    [[nodiscard]] LiveMemory& memory() noexcept { return memory_; }
    [[nodiscard]] RdmaCm& rdma_cm() noexcept { return *rdma_cm_; }
    [[nodiscard]] Poller& poller() noexcept { return poller_; }
    [[nodiscard]] bool virtual_clock() const noexcept { return config_.clock == protocol::ClockMode::Virtual; }

    // ---- processes and slots
    [[nodiscard]] const Roster& roster() const noexcept { return roster_; }
    static constexpr uint32_t kNone = protocol::kNoItem;
    /// A process entry for `host` and `program`; kNone if there are too many.
    uint32_t reserve_process(uint32_t host, uint32_t program);
    /// A thread slot for a thread of `process` that is about to come, its clock at `clock_ps`; kNone if there are too
    /// many.
    uint32_t reserve_slot(uint32_t process, int64_t clock_ps);
    void free_slot(uint32_t slot);
    [[nodiscard]] Client* client_of_process(uint32_t process);
    [[nodiscard]] Client* client_of_space(host::AddressSpaceId space);
    /// Every live client, by process.
    [[nodiscard]] std::map<uint32_t, std::unique_ptr<Client>>& clients() noexcept { return clients_; }
    /// Everything that the client owned is gone; the process may go on (exec) or not. `now`: the engine's frontier.
    void remove_client(uint32_t process);
    /// The process is dead: its client, its slots, its streams, whoever waits for it.
    void process_died(uint32_t process, int64_t clock_ps);
    /// The latest clock that a thread of the process has reached.
    [[nodiscard]] int64_t latest_clock(uint32_t process) const;
    /// Clocks beyond this (about 53 days) are cut off: nothing can be added to them safely.
    static constexpr int64_t kLatestClockPs = INT64_MAX / 2;
    /// Processes whose end has been noticed, but not yet acted upon by process_died.
    [[nodiscard]] std::vector<uint32_t> dead_processes() const { return dead_; }
    [[nodiscard]] bool is_dead(uint32_t process) const;
    /// A descriptor that is readable once the process has ended, or -1.
    [[nodiscard]] int pidfd_of(uint32_t process) const;
    /// Notices the end of `pid` from now on (also called for a program that has not said hello yet).
    void watch_process(uint32_t process, pid_t pid);
    /// A client without a process behind it, for fuzzing and unit tests.
    Client& add_detached_client(uint32_t host);

    // ---- faults of programs
    /// From now on; not owned; nullptr, as at first: there are none.
    void set_faults(ProgramFaults* faults) noexcept { faults_ = faults; }
    [[nodiscard]] ProgramFaults* faults() const noexcept { return faults_; }
    /// No thread of the process runs before this, because its program is frozen.
    [[nodiscard]] sim::SimTime frozen_until(uint32_t process) const {
        return faults_ == nullptr ? sim::SimTime::zero() : faults_->frozen_until(page_->processes[process].program);
    }
    /// What tools read of a port in /sys is no longer true: it is written anew.
    void refresh_sysfs(uint32_t host, uint32_t nic, uint8_t port);

    // ---- control path
    /// Reads one pending request of a client, that of the thread in `slot` (kNone: any), answers it and returns what it
    /// costs in simulated time, or -1 if there was none. A client that lies about the protocol itself is disconnected.
    int64_t serve_request(Client& client, sim::SimTime now, uint32_t slot = kNone);
    /// Tells a sentence, if somebody wants to hear it.
    void explain(const Client& client, std::string_view text);
    [[nodiscard]] hca::OwnerId next_owner() noexcept { return ++last_owner_; }
    [[nodiscard]] uint64_t next_fd_key() noexcept;

    // ---- memory
    /// PayloadMover::before_turn and next_visible for all that the program's CPUs can see.
    void before_turn(Client& client, sim::SimTime clock);
    [[nodiscard]] sim::SimTime next_visible(const Client& client) const;
    /// DMA has written into GPU memory: whoever can see it on that host may look again.
    void note_gpu_written(uint32_t host, sim::SimTime visible_at, bool part);

    // ---- deliveries
    /// Makes everything with a stamp <= `clock` visible to the process. Returns how many things that was.
    uint64_t apply_deliveries(Client& client, sim::SimTime clock);
    /// Bumped whenever something was queued for any process.
    [[nodiscard]] uint64_t delivery_epoch() const noexcept { return delivery_epoch_; }
    void note_delivery() noexcept { ++delivery_epoch_; }
    /// Writes an event into an fd now, stamped.
    void write_event(EventFd& fd, const protocol::ChannelEvent& event, int64_t stamp_ps);

    /// Bumped whenever a slot may have been claimed or a process come or gone (arrivals, deaths).
    [[nodiscard]] uint64_t membership_epoch() const noexcept { return membership_epoch_; }
    /// Totals of processes that have ended, by program.
    struct EndedStats {
        uint64_t stats[static_cast<size_t>(protocol::Stat::kCount)] = {};
        LiveMemory::Counts copies;
    };
    [[nodiscard]] std::map<uint32_t, EndedStats>& ended_stats() noexcept { return ended_stats_; }

  private:
    void open_socket();
    void accept_connection();
    void on_visitor(int fd, uint32_t events);
    void show_out(int fd);
    void make_room_for_visitors(pid_t pid);
    int provide_sysfs(Host& host);
    void admit(UniqueFd connection, const protocol::HelloRequest& hello, pid_t pid);
    void refuse(int fd, const protocol::HelloRequest& hello, int error);
    struct Place {
        uint32_t host = kNone, process = kNone, slot = kNone;
    };
    int choose_place(const protocol::HelloRequest& hello, pid_t pid, Place& place);
    void fill_hello(const Client& client, uint32_t slot, protocol::HelloReply& reply) const;
    void apply(Client& client, const Delivery& delivery);
    void apply_completion(Client& client, const Delivery& delivery);

    LabConfig config_;
    LabObserver* observer_;
    LabBlock block_;
    LabPage page_;
    Roster roster_;
    Poller poller_;
    LiveMemory memory_;
    std::unique_ptr<RdmaCm> rdma_cm_;
    host::PayloadMover* mover_ = nullptr;
    sim::Engine* engine_ = nullptr;
    sim::Watcher* watcher_ = nullptr;
    ProgramFaults* faults_ = nullptr;
    sim::SimTime down_latency_, up_latency_;
    std::vector<Host> hosts_;
    std::string socket_path_;
    UniqueFd listener_;
    std::map<int, UniqueFd> visitors_;  ///< have connected, but not said hello
    std::deque<int> visitors_in_order_;
    bool told_of_visitors_ = false;
    bool told_of_versions_ = false;
    bool sysfs_failed_ = false;  ///< said once
    std::map<uint32_t, std::unique_ptr<Client>> clients_;
    std::map<host::AddressSpaceId, uint32_t> process_of_space_;
    std::map<uint32_t, UniqueFd> pidfds_;
    std::vector<uint32_t> dead_;
    host::AddressSpaceId last_space_ = 0;
    hca::OwnerId last_owner_ = 0;
    uint64_t last_fd_ = 0;
    uint32_t last_process_ = 0;
    uint64_t delivery_epoch_ = 0;
    uint64_t membership_epoch_ = 0;
    std::map<uint32_t, EndedStats> ended_stats_;
};

}  // namespace simverbs::server
