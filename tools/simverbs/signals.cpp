#include "tools/simverbs/signals.hpp"

#include <signal.h>

#include <initializer_list>

namespace simverbs::tools {

namespace {

volatile sig_atomic_t g_stop = 0;

void on_stop(int) {
    g_stop = 1;
}

}  // namespace

void catch_stop_signals() {
    struct sigaction action {};
    action.sa_handler = on_stop;
    for (const int s : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(s, &action, nullptr);
    ::signal(SIGPIPE, SIG_IGN);
}

bool stop_signal_seen() noexcept {
    return g_stop != 0;
}

}  // namespace simverbs::tools
