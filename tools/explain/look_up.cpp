#include "tools/explain/look_up.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <initializer_list>

namespace simverbs::explain {

namespace {

constexpr size_t kWidestName = 34;

struct Section {
    std::string_view title;
    std::span<const Topic> (*topics)() noexcept;
    std::initializer_list<std::string_view> prefixes;  ///< of names, which a question may leave out
};

const std::array<Section, 5>& sections() {
    static const std::array<Section, 5> kSections = {{
        {"completion statuses (ibv_wc.status)", completion_statuses, {"IBV_", "IBV_WC_"}},
        {"async events (ibv_get_async_event)", async_events, {"IBV_", "IBV_EVENT_"}},
        {"rdma_cm events (rdma_get_cm_event)", cm_events, {"RDMA_", "RDMA_CM_", "RDMA_CM_EVENT_"}},
        {"reasons of RDMA_CM_EVENT_REJECTED (event->status)", reject_reasons, {}},
        {"errors of calls", call_errors, {"ibv_", "rdma_"}},
    }};
    return kSections;
}

std::string lower(std::string_view s) {
    std::string out(s);
    std::transform(out.begin(), out.end(), out.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return out;
}

/// Is `word` the topic's name, whole or without one of the prefixes?
bool is_named(const Topic& topic, const Section& section, const std::string& word) {
    const std::string name = lower(topic.name);
    if (name == word) return true;
    return std::any_of(section.prefixes.begin(), section.prefixes.end(), [&](std::string_view prefix) {
        const std::string start = lower(prefix);
        return name.starts_with(start) && std::string_view(name).substr(start.size()) == word;
    });
}

std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> words;
    std::string word;
    for (const char c : text) {
        if (std::isspace(static_cast<unsigned char>(c)) != 0 || c == ':' || c == ',' || c == '(' || c == ')') {
            if (!word.empty()) words.push_back(std::move(word));
            word.clear();
        } else {
            word += c;
        }
    }
    if (!word.empty()) words.push_back(std::move(word));
    return words;
}

/// Words filled into lines of `width` columns, each behind `indent` spaces.
std::string wrapped(std::string_view text, size_t indent, size_t width) {
    std::string out, line;
    const auto flush = [&] {
        if (!line.empty()) out += std::string(indent, ' ') + line + '\n';
        line.clear();
    };
    size_t at = 0;
    while (at < text.size()) {
        const size_t end = std::min(text.find(' ', at), text.size());
        const std::string_view word = text.substr(at, end - at);
        if (!line.empty() && indent + line.size() + 1 + word.size() > width) flush();
        if (!line.empty()) line += ' ';
        line += word;
        at = end + 1;
    }
    flush();
    return out;
}

std::string heading(const Topic& topic) {
    switch (topic.kind) {
        case Kind::CompletionStatus:
            return fmt::format("{}: completion status {}, \"{}\"", topic.name, topic.number, topic.text);
        case Kind::AsyncEvent:
            return fmt::format("{}: async event {}, \"{}\"", topic.name, topic.number, topic.text);
        case Kind::CmEvent:
            return fmt::format("{}: rdma_cm event {}", topic.name, topic.number);
        case Kind::RejectReason:
            return fmt::format("{}: RDMA_CM_EVENT_REJECTED with status {}", topic.name, topic.number);
        case Kind::CallError:
            return fmt::format("{}() ends with {} ({})", topic.name, topic.error, topic.number);
    }
    return std::string(topic.name);
}

}  // namespace

std::vector<const Topic*> look_up(std::string_view question) {
    std::vector<std::string> words = words_of(lower(question));
    if (words.size() > 1 && (words[0] == "status" || words[0] == "event" || words[0] == "errno"))
        words.erase(words.begin());
    std::string phrase;
    for (const std::string& word : words) phrase += (phrase.empty() ? "" : " ") + word;
    int number = -1;
    const bool is_number =
        std::from_chars(phrase.data(), phrase.data() + phrase.size(), number).ptr == phrase.data() + phrase.size() &&
        !phrase.empty();

    std::vector<const Topic*> found;
    for (const Section& section : sections()) {
        for (const Topic& topic : section.topics()) {
            bool asked = is_number
                             ? topic.number == number
                             : is_named(topic, section, phrase) || (!topic.text.empty() && lower(topic.text) == phrase);
            if (topic.kind == Kind::CallError && !is_number) {
                const std::string error = lower(topic.error);
                asked = asked || error == phrase ||
                        (words.size() == 2 && is_named(topic, section, words[0]) && error == words[1]);
            }
            if (asked) found.push_back(&topic);
        }
    }
    return found;
}

std::vector<std::string_view> known_words() {
    std::vector<std::string_view> words;
    for (const Section& section : sections()) {
        for (const Topic& topic : section.topics()) {
            words.push_back(topic.name);
            for (const std::string_view prefix : section.prefixes)
                if (topic.name.starts_with(prefix)) words.push_back(topic.name.substr(prefix.size()));
            if (!topic.error.empty()) words.push_back(topic.error);
        }
    }
    std::sort(words.begin(), words.end());
    words.erase(std::unique(words.begin(), words.end()), words.end());
    return words;
}

std::string to_text(const Topic& topic, size_t width) {
    std::string out = heading(topic) + '\n' + wrapped(topic.meaning, 2, width);
    if (topic.causes.size() > 1) out += "  Which of these it is:\n";
    for (const Cause& cause : topic.causes) {
        std::string why = wrapped(cause.why, 4, width);
        why[2] = '-';
        out += why + wrapped(cause.sign, 6, width);
    }
    if (!topic.after.empty()) out += "  Now:\n" + wrapped(topic.after, 4, width);
    return out;
}

std::string contents() {
    std::string out =
        "simverbs explain WORD: one of these (with or without its prefix), its number, or the text that programs "
        "print\n";
    for (const Section& section : sections()) {
        out += fmt::format("\n{}\n", section.title);
        std::string_view call;
        for (const Topic& topic : section.topics()) {
            if (topic.kind != Kind::CallError) {
                out += fmt::format("  {:<{}} {:>3}  {}\n", topic.name, kWidestName, topic.number,
                                   topic.text.empty() || topic.text == topic.name ? topic.meaning : topic.text);
                continue;
            }
            if (topic.name == call) {
                out.insert(out.size() - 1, fmt::format(" {}", topic.error));
            } else {
                out += fmt::format("  {:<{}} {}\n", topic.name, kWidestName, topic.error);
                call = topic.name;
            }
        }
    }
    return out;
}

}  // namespace simverbs::explain
