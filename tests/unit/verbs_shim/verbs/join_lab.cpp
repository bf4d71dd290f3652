// The constructor of the library under test, in place of client/turn's.
#include "verbs_shim/client/connection/connection.hpp"

namespace {
__attribute__((constructor)) void join_lab() {
    simverbs::client::connection::hello();
}
}  // namespace
