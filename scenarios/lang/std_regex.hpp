// <regex>, without what g++ 12 says of it in sanitized builds (GCC bug 105562: std::function in its automaton "may be
// used uninitialized", where it is not). Our own code keeps the warning.
#pragma once

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <regex>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
