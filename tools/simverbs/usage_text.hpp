// What is wrong with a command line, in words for its user.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <string>

namespace simverbs::tools {

/// "simverbs run: --thread: there is no such option; did you mean '--threads'?" and where to look on.
[[nodiscard]] std::string usage_text(const CLI::App& app, const CLI::ParseError& error);

/// An option whose value is a whole number from `least` to `most`; anything else is refused with an example.
CLI::Option* add_number(CLI::App& app, const std::string& name, uint64_t least, uint64_t most,
                        const std::string& example, const std::function<void(uint64_t)>& take, const std::string& help);

/// An option whose value is one of `words`.
CLI::Option* add_choice(CLI::App& app, const std::string& name, const std::vector<std::string>& words,
                        const std::function<void(const std::string&)>& take, const std::string& help);

}  // namespace simverbs::tools
