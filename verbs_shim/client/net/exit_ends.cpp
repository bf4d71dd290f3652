#include "verbs_shim/client/net/exit_ends.hpp"

#include "verbs_shim/client/net/fd_table.hpp"
#include "verbs_shim/client/net/lab.hpp"
#include "verbs_shim/client/net/readiness.hpp"
#include "verbs_shim/client/turn/turn.hpp"

namespace simverbs::client::net {

void process_ends() noexcept {
    if (lab() == nullptr || !turn::active()) return;
    drop_all_ends(false);
    turn::object_bump(unix_activity_key());
}

void process_execs() noexcept {
    if (lab() == nullptr || !turn::active()) return;
    drop_all_ends(true);
}

void image_arrived() noexcept {
    if (lab() == nullptr || !turn::active()) return;
    adopt_inherited_ends();
}

}  // namespace simverbs::client::net
