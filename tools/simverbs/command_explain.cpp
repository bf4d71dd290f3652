// simverbs explain: what a status, event or errno means, and how to tell its causes apart.
#include <fmt/format.h>

#include <iostream>

#include "scenarios/lang/did_you_mean.hpp"
#include "tools/explain/look_up.hpp"
#include "tools/simverbs/commands.hpp"
#include "tools/simverbs/exit_code.hpp"
#include "tools/simverbs/user_error.hpp"

namespace simverbs::tools {

int run_explain(const std::vector<std::string>& words) {
    if (words.empty()) {
        std::cout << explain::contents();
        return kSuccess;
    }
    const std::string question = fmt::format("{}", fmt::join(words, " "));
    const auto topics = explain::look_up(question);
    if (topics.empty()) {
        const std::string guess = scenarios::did_you_mean(question, explain::known_words());
        throw UserError(fmt::format("explain: nothing is called '{}'; {}'simverbs explain' alone lists all words",
                                    question, guess.empty() ? "" : guess + " "));
    }
    for (size_t i = 0; i < topics.size(); ++i) std::cout << (i == 0 ? "" : "\n") << explain::to_text(*topics[i]);
    return kSuccess;
}

}  // namespace simverbs::tools
