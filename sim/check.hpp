// SIM_CHECK: invariants that hold in every build. A failure is our bug, never the user's or the network's.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

#include "sim/sim_time.hpp"

namespace simverbs::sim {

/// What a failed check says. `values` is "name=value, …" of the operands handed to SIM_CHECK.
struct CheckFailure {
    const char* expression;
    const char* file;
    int line;
    std::string values;

    [[nodiscard]] std::string text() const;
};

/// Called on a failure; if it returns, the process aborts. May throw (tests do).
using CheckHandler = void (*)(const CheckFailure&);

/// Sets the handler of the whole process and returns the old one; nullptr restores the default (print to stderr,
/// abort).
CheckHandler set_check_handler(CheckHandler handler) noexcept;

/// Thrown by throw_check_failure.
class CheckError : public std::logic_error {
  public:
    using std::logic_error::logic_error;
};

/// A CheckHandler for tests: throws CheckError with CheckFailure::text().
[[noreturn]] void throw_check_failure(const CheckFailure& failure);

/// While it lives, failed checks throw CheckError.
class ThrowingChecks {
  public:
    ThrowingChecks() noexcept : old_(set_check_handler(&throw_check_failure)) {}
    ThrowingChecks(const ThrowingChecks&) = delete;
    ThrowingChecks& operator=(const ThrowingChecks&) = delete;
    ~ThrowingChecks() { set_check_handler(old_); }

  private:
    CheckHandler old_;
};

namespace check_detail {

[[noreturn]] void fail(const char* expression, const char* file, int line, const char* names, std::string values);

inline void append(std::string& out, SimTime t) {
    out += std::to_string(t.in_ps()) + " ps";
}
inline void append(std::string& out, std::string_view s) {
    out += s;
}
template <class T>
requires std::is_arithmetic_v<T>
void append(std::string& out, T v) {
    out += std::to_string(v);
}
template <class T>
requires std::is_enum_v<T>
void append(std::string& out, T v) {
    out += std::to_string(static_cast<std::underlying_type_t<T>>(v));
}

template <class... Values>
[[noreturn, gnu::cold, gnu::noinline]] void fail_with(const char* expression, const char* file, int line,
                                                      const char* names, const Values&... values) {
    std::string text;
    [[maybe_unused]] int n = 0;
    ((text += n++ ? ", " : "", append(text, values)), ...);
    fail(expression, file, line, names, std::move(text));
}

}  // namespace check_detail
}  // namespace simverbs::sim

/// SIM_CHECK(condition, value…): on in every build. Prints the expression, file:line and the values, then calls the
/// handler.
#define SIM_CHECK(condition, ...)                                                                 \
    do {                                                                                          \
        if (!(condition)) [[unlikely]]                                                            \
            ::simverbs::sim::check_detail::fail_with(#condition, __FILE__, __LINE__,              \
                                                     "" #__VA_ARGS__ __VA_OPT__(, ) __VA_ARGS__); \
    } while (false)
