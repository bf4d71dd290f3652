#include "scenarios/lang/expectation_tokens.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace simverbs::scenarios {

namespace {

/// How an operator may be written, longer ones first, and how it is called.
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kOperators{{{"<=", "<="},
                                                                                   {">=", ">="},
                                                                                   {"==", "=="},
                                                                                   {"!=", "!="},
                                                                                   {"+-", "±"},
                                                                                   {"±", "±"},
                                                                                   {"<", "<"},
                                                                                   {">", ">"},
                                                                                   {"=", "=="}}};

const std::pair<std::string_view, std::string_view>* operator_at(std::string_view rest) noexcept {
    for (const auto& row : kOperators) {
        if (rest.starts_with(row.first)) return &row;
    }
    return nullptr;
}

bool is_blank(char c) noexcept {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

}  // namespace

std::vector<ExpectationToken> expectation_tokens(std::string_view text) {
    std::vector<ExpectationToken> tokens;
    std::size_t at = 0;
    while (true) {
        while (at < text.size() && is_blank(text[at])) ++at;
        const std::size_t first = at;
        if (at == text.size()) break;
        if (const auto* found = operator_at(text.substr(at))) {
            at += found->first.size();
            tokens.push_back({TokenKind::Operator, std::string(found->second), first});
        } else if (text[at] == '\'' || text[at] == '"') {
            const std::size_t end = std::min(text.find(text[at], at + 1), text.size());
            tokens.push_back({TokenKind::Quoted, std::string(text.substr(at + 1, end - at - 1)), first});
            at = std::min(end + 1, text.size());
        } else {
            while (at < text.size() && !is_blank(text[at]) && operator_at(text.substr(at)) == nullptr) ++at;
            tokens.push_back({TokenKind::Word, std::string(text.substr(first, at - first)), first});
        }
    }
    tokens.push_back({TokenKind::End, "", text.size()});
    return tokens;
}

}  // namespace simverbs::scenarios
