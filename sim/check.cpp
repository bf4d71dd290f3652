#include "sim/check.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace simverbs::sim {

namespace {
// The one piece of process-wide state in sim/: how a bug is reported. It never influences results.
std::atomic<CheckHandler> g_handler{nullptr};
}  // namespace

std::string CheckFailure::text() const {
    std::string out = std::string("SIM_CHECK failed: ") + expression + " at " + file + ":" + std::to_string(line);
    if (!values.empty()) out += " with " + values;
    return out;
}

CheckHandler set_check_handler(CheckHandler handler) noexcept {
    return g_handler.exchange(handler);
}

void throw_check_failure(const CheckFailure& failure) {
    throw CheckError(failure.text());
}

namespace check_detail {

void fail(const char* expression, const char* file, int line, const char* names, std::string values) {
    CheckFailure failure{expression, file, line, {}};
    if (!values.empty()) failure.values = std::string(names) + " = " + values;
    if (const CheckHandler handler = g_handler.load()) handler(failure);
    std::fprintf(stderr, "%s\n", failure.text().c_str());
    std::fflush(stderr);
    std::abort();
}

}  // namespace check_detail
}  // namespace simverbs::sim
