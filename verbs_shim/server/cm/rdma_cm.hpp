// What the kernel's rdma_cm is to a program: the ids of /dev/infiniband/rdma_cm, their addresses and states, and the
// events that wait in its files. Connections themselves are models/cm's.
#pragma once

#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/cm/agent.hpp"
#include "models/cm/ip_cm_header.hpp"
#include "verbs_shim/protocol/messages.hpp"
#include "verbs_shim/server/client.hpp"
#include "verbs_shim/server/cm/cm_address.hpp"
#include "verbs_shim/server/cm/ucm_abi.hpp"

namespace simverbs::server {

class Lab;

/// States of an id, as the kernel's cma has them.
enum class IdState : uint8_t {
    Idle,
    AddrBound,
    AddrQuery,
    AddrResolved,
    RouteQuery,
    RouteResolved,
    Connect,
    Disconnect,
    Listen,
};

struct CmMulticast {
    uint32_t id = 0;
    uint64_t uid = 0;
    uint32_t events_reported = 0;
    CmAddress address;
};

struct CmId {
    uint32_t handle = 0, file = 0;
    uint64_t uid = 0;
    cm::PortSpace space = cm::PortSpace::Tcp;
    hca::QpType qp_type = hca::QpType::Rc;
    IdState state = IdState::Idle;
    CmAddress src, dst;
    bool reuse_address = false, address_family_only = false;
    uint8_t type_of_service = 0;
    std::optional<uint8_t> ack_timeout;
    int nic = -1;  ///< of the host; -1: not bound to a device yet
    uint8_t port_num = 0, sgid_index = 0;
    hca::Gid sgid{};
    cm::PathRecord path;
    bool has_path = false;
    cm::CommId conn = 0;
    uint32_t qp_num = 0, qkey = 0;
    bool srq = false;
    uint8_t responder_resources = 0, initiator_depth = 0;
    uint32_t events_reported = 0;
    uint32_t backlog = 0;  ///< Listen: connection requests that may still come
    uint64_t resolve = 0;  ///< timer of the address or route resolution under way
    std::vector<CmMulticast> multicasts;
};

/// An event on its way to, or in, a file's queue.
struct CmEvent {
    uint32_t id = 0;      ///< whose event it is
    uint32_t new_id = 0;  ///< of a connection request
    uint32_t multicast = 0;
    rdma_ucm_event_resp response{};
};

/// One open /dev/infiniband/rdma_cm. Its descriptor is readable while `queue` is not empty.
struct CmFile {
    EventFd ready;
    UniqueFd read_end;  ///< a second description of the descriptor's pipe, to take the token out
    std::deque<CmEvent> queue;
};

/// What a program has of rdma_cm.
struct CmState {
    std::map<uint32_t, CmFile> files;
    std::map<uint32_t, CmId> ids;
};

/// An answer to a command.
struct CmAnswer {
    int error = 0;
    std::vector<uint8_t> out;
    uint64_t hold_key = 0;   ///< nobody listens there yet: try again when this object changes …
    uint64_t hold_busy = 0;  ///< … or that one
};

class RdmaCm final : public cm::Consumer {
  public:
    explicit RdmaCm(Lab& lab) : lab_(&lab) {}

    /// The adapters are there.
    void attach();

    struct Opened {
        int error = 0;
        uint32_t file = 0;
        uint64_t key = 0;
        UniqueFd process_end;
    };
    Opened open(Client& client);
    void close(Client& client, uint32_t file, sim::SimTime now);
    /// The process has gone, and everything of it with it.
    void client_gone(Client& client, sim::SimTime now);
    /// One write to the device: header and command as the program wrote them.
    CmAnswer command(Client& client, const protocol::CmCommandRequest& request, sim::SimTime now);
    /// An event's time has come.
    void deliver(Client& client, uint32_t ticket, int64_t stamp_ps);

    void on_cm_event(cm::Agent& agent, const cm::Event& event, sim::SimTime now) override;

  private:
    struct Ref {
        uint32_t process = 0, id = 0;
        friend bool operator==(const Ref&, const Ref&) = default;
    };
    enum class TimerKind : uint8_t { AddrResolved, AddrError, RouteResolved, Joined };
    struct Timer {
        TimerKind kind = TimerKind::AddrResolved;
        Ref ref;
        uint32_t multicast = 0;
    };
    struct HostState {
        std::map<std::pair<uint16_t, uint16_t>, std::vector<Ref>> ports;  ///< port space and port → who has it
        std::map<uint16_t, uint16_t> next_port;
        std::vector<std::unique_ptr<cm::Agent>> agents;  ///< by NIC
        std::map<uint64_t, uint32_t> listening;          ///< service id → listeners
    };
    struct Found {
        Client* client = nullptr;
        CmId* id = nullptr;
        explicit operator bool() const noexcept { return id != nullptr; }
    };
    /// One command on its way.
    struct Command {
        Client& client;
        // What the program wrote behind the command's header, how much of an answer it has room for, and what the
        // command needs beside: an option's value follows `in`, or another file.
        sim::SimTime now;
        uint32_t file;
        std::span<const uint8_t> in;
        uint32_t room;
        uint32_t extra;
        CmAnswer answer;

        template <class T>
        bool read(T& to) const {
            to = {};
            std::memcpy(static_cast<void*>(&to), in.data(), std::min(in.size(), sizeof to));
            return in.size() >= sizeof to;
        }
        template <class T>
        int reply(const T& response) {
            if (room < sizeof response) return ENOSPC;
            answer.out.resize(sizeof response);
            std::memcpy(answer.out.data(), static_cast<const void*>(&response), sizeof response);
            return 0;
        }
        int reply_up_to(const void* response, size_t bytes);
    };

    // rdma_cm.cpp: ids, files, events
    [[nodiscard]] Found find(Ref ref);
    [[nodiscard]] CmState& state_of(const Client& client) { return states_[client.process]; }
    [[nodiscard]] CmFile* file_of(const Client& client, uint32_t file);
    int find(Command& c, uint32_t handle, CmId*& id);
    [[nodiscard]] HostState& host_of(const Client& client);
    [[nodiscard]] cm::Agent* agent_of(const Client& client, const CmId& id);
    CmId* make_id(Client& client, uint32_t file, uint64_t uid, cm::PortSpace space, hca::QpType type);
    void destroy_id(Client& client, uint32_t handle, sim::SimTime now);
    /// `at`: when it has happened; the program sees it a little later.
    void post(Client& client, CmEvent event, sim::SimTime at);
    void post(Client& client, const CmId& id, uint32_t event, int status, sim::SimTime at);
    void set_ready(CmFile& file, int64_t stamp_ps);
    void set_empty(CmFile& file);
    uint64_t set_timer(Client& client, const CmId& id, TimerKind kind, sim::SimTime at, uint32_t multicast = 0);
    void bind_connection(Client& client, CmId& id, cm::Agent& agent, cm::CommId conn);

    // cm_commands.cpp
    int run(Command& c, uint32_t command);
    int create_id(Command& c);
    int destroy_id(Command& c);
    int get_event(Command& c);
    int migrate_id(Command& c);
    int set_option(Command& c);
    int notify(Command& c);

    // cm_resolve.cpp
    int bind(Command& c, CmId& id, const CmAddress& address);
    int bind_ip(Command& c);
    int bind_any_family(Command& c);
    int resolve_ip(Command& c);
    int resolve_addr(Command& c);
    int resolve(Command& c, uint32_t handle, const void* src, size_t src_bytes, const void* dst, size_t dst_bytes,
                uint32_t timeout_ms);
    int resolve_route(Command& c);
    int listen(Command& c);
    int take_port(Client& client, CmId& id, uint16_t port);
    void give_port_back(Client& client, CmId& id);
    bool attach_device(const Client& client, CmId& id, const CmAddress& local);
    [[nodiscard]] bool is_local(const Client& client, const CmAddress& address);
    /// Fills `id.path` with the way to `id.dst`; false if nobody has that address.
    bool find_path(const Client& client, CmId& id);
    void set_listening(Client& client, const CmId& id, bool on, sim::SimTime now);
    [[nodiscard]] uint64_t listener_key(uint32_t host, const CmId& id, uint16_t port) const;

    // cm_connect.cpp
    int connect(Command& c);
    int accept(Command& c);
    int reject(Command& c);
    int disconnect(Command& c);
    bool must_hold(Command& c, const CmId& id);

    // cm_query.cpp
    int query_route(Command& c);
    int query(Command& c);
    int query_path(Command& c, const CmId& id);
    int set_path(Command& c, CmId& id, std::span<const uint8_t> value);
    int init_qp_attr(Command& c);
    [[nodiscard]] ib_user_path_rec path_record(const CmId& id) const;
    [[nodiscard]] uint64_t node_guid(const Client& client, const CmId& id);

    // cm_multicast.cpp
    int join_ip_multicast(Command& c);
    int join_multicast(Command& c);
    int join(Command& c, uint32_t handle, uint64_t uid, const CmAddress& address);
    int leave_multicast(Command& c);
    void on_joined(Client& client, CmId& id, uint32_t multicast, sim::SimTime now);
    [[nodiscard]] hca::Gid group_of(const Client& client, const CmId& id, const CmAddress& address);

    // cm_events.cpp
    void on_timer(uint64_t timer, sim::SimTime now);
    void on_request(cm::Agent& agent, const cm::Event& event, sim::SimTime now);
    void on_event_of(Client& client, CmId& id, const cm::Event& event, sim::SimTime now);
    void explain_rejection(const Client& client, const CmId& id, const cm::Event& event);

    Lab* lab_;
    std::vector<HostState> hosts_;
    std::map<uint32_t, CmState> states_;  ///< by process
    std::map<wire::LeafId, uint32_t> host_of_leaf_;
    std::map<const cm::Agent*, uint32_t> host_of_agent_;
    std::map<std::pair<const cm::Agent*, cm::CommId>, Ref> connections_;
    std::map<uint64_t, Timer> timers_;
    std::map<uint32_t, CmEvent> on_the_way_;
    std::map<hca::Gid, uint16_t> multicast_lids_;
    uint64_t last_timer_ = 0;
    uint32_t last_ticket_ = 0, last_id_ = 0;
};

}  // namespace simverbs::server
