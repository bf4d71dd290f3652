#include "tools/simverbs/usage_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <string_view>
#include <vector>

#include "scenarios/lang/diagnostic.hpp"
#include "scenarios/lang/did_you_mean.hpp"

namespace simverbs::tools {

namespace {

std::string name_of(const CLI::App& command) {
    const CLI::App* parent = command.get_parent();
    return parent == nullptr ? "simverbs" : name_of(*parent) + " " + command.get_name();
}

const CLI::App& innermost(const CLI::App& app) {
    const std::vector<CLI::App*> chosen = app.get_subcommands();
    return chosen.empty() ? app : innermost(*chosen.back());
}

std::string list(const std::vector<std::string>& words) {
    std::string out;
    for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
    return out;
}

std::vector<std::string> commands_of(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
        names.push_back(command->get_name());
    return names;
}

std::vector<std::string> options_of(const CLI::App& command) {
    std::vector<std::string> names;
    for (const CLI::Option* option : command.get_options())
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    return names;
}

std::string wrong(std::string problem, const std::string& expected, const std::string& hint = {}) {
    if (!expected.empty()) problem += "; expected " + expected;
    if (!hint.empty()) problem += "; " + hint;
    return problem;
}

std::string hint_for(std::string_view word, const std::vector<std::string>& known) {
    return scenarios::did_you_mean(word, {known.begin(), known.end()});
}

/// A word that nothing takes.
std::string of_extra(const CLI::App& app, const CLI::App& command) {
    const std::vector<std::string> words = command.remaining(true);
    const std::string word = words.empty() ? std::string() : words.front();
    if (word.starts_with("-")) {
        const std::string option = word.substr(0, word.find('='));
        return wrong(fmt::format("there is no option {}", scenarios::in_quotes(option)), "",
                     hint_for(option, options_of(command)));
    }
    if (&app == &command)
        return wrong(fmt::format("there is no command {}", scenarios::in_quotes(word)),
                     "one of " + list(commands_of(app)), hint_for(word, commands_of(app)));
    return wrong(fmt::format("nothing is done with {}", scenarios::in_quotes(word)), "no more words");
}

/// An option that lacks its value, or has several.
std::string of_value(const CLI::App& command, std::string_view text) {
    const std::string name(text.substr(0, text.find(':')));
    const CLI::Option* option = command.get_option_no_throw(name);
    if (option == nullptr) return std::string(text);
    if (option->count() > 1) return wrong(fmt::format("{}: is given more than once", name), "one value");
    return wrong(fmt::format("{}: has no value", name), fmt::format("{} {}", name, option->get_type_name()));
}

}  // namespace

std::string usage_text(const CLI::App& app, const CLI::ParseError& error) {
    const CLI::App& command = innermost(app);
    std::string text = error.what();
    if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
        text = of_extra(app, command);
    } else if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
        text = of_value(command, text);
    } else if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && !app.remaining().empty()) {
        text = of_extra(app, command);
    } else if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && &app == &command) {
        text = wrong("no command is given", "one of " + list(commands_of(app)));
    }
    return fmt::format("{}: {}\n{} --help tells what there is\n", name_of(command), text, name_of(command));
}

CLI::Option* add_number(CLI::App& app, const std::string& name, uint64_t least, uint64_t most,
                        const std::string& example, const std::function<void(uint64_t)>& take,
                        const std::string& help) {
    const auto read = [=](const std::string& text) {
        uint64_t number = 0;
        const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
        const bool is_whole = !text.empty() && result.ptr == text.data() + text.size();
        if (!is_whole || result.ec != std::errc() || number < least || number > most) {
            const bool is_number = is_whole && text.front() != '-';
            throw CLI::ValidationError(
                name,
                wrong(scenarios::in_quotes(text) + (is_number ? " is out of range" : " is not a whole number"),
                      most == std::numeric_limits<uint64_t>::max()
                          ? fmt::format("a whole number from {}, such as {} {}", least, name, example)
                          : fmt::format("a whole number from {} to {}, such as {} {}", least, most, name, example)));
        }
        take(number);
    };
    return app.add_option_function<std::string>(name, read, help)->type_name("NUMBER");
}

CLI::Option* add_choice(CLI::App& app, const std::string& name, const std::vector<std::string>& words,
                        const std::function<void(const std::string&)>& take, const std::string& help) {
    const auto read = [=](const std::string& text) {
        if (std::ranges::find(words, text) == words.end())
            throw CLI::ValidationError(name, wrong(fmt::format("there is no {}", scenarios::in_quotes(text)),
                                                   "one of " + list(words), hint_for(text, words)));
        take(text);
    };
    std::string type;
    for (const std::string& word : words) type += (type.empty() ? "" : "|") + word;
    return app.add_option_function<std::string>(name, read, help)->type_name(type);
}

}  // namespace simverbs::tools
