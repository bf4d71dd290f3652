#include "tools/simverbs/up_state.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tools/simverbs/user_error.hpp"
#include "verbs_shim/server/lab_block.hpp"
#include "verbs_shim/server/unique_fd.hpp"

namespace simverbs::tools {

namespace {

/// Does a server listen there? A process id proves nothing: it may be a zombie's or by now somebody else's.
bool listens(const std::string& socket_path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (socket_path.size() >= sizeof address.sun_path) return false;
    std::memcpy(address.sun_path, socket_path.c_str(), socket_path.size() + 1);
    const server::UniqueFd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    return fd.valid() && ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

}  // namespace

std::string up_state_file(const std::string& name) {
    if (name.empty() || name.find('/') != std::string::npos || name.front() == '.')
        throw UserError(
            fmt::format("--name: '{}' is not a name for a lab; expected a word without '/', such as lab2", name));
    return server::LabBlock::base_folder() + "/" + name + ".up";
}

void write_up_state(const UpState& state) {
    const std::string file = up_state_file(state.name);
    std::ofstream out(file + ".new");
    out << state.pid << '\n' << state.socket << '\n';
    for (const std::string& host : state.hosts) out << host << ' ';
    out << '\n';
    out.close();
    std::filesystem::rename(file + ".new", file);
}

UpState read_up_state(const std::string& name) {
    const std::string file = up_state_file(name);
    std::ifstream in(file);
    UpState state;
    state.name = name;
    if (!(in >> state.pid >> state.socket))
        throw UserError(fmt::format("no lab '{}' is up; simverbs up LAB starts one", name));
    for (std::string host; in >> host;) state.hosts.push_back(host);
    if (!listens(state.socket)) {
        ::unlink(file.c_str());
        throw UserError(fmt::format("the lab '{}' has died; simverbs up LAB starts a new one", name));
    }
    return state;
}

bool is_up(const std::string& name) {
    try {
        (void)read_up_state(name);
        return true;
    } catch (const UserError&) {
        return false;
    }
}

}  // namespace simverbs::tools
