// The words of an expectation, each with its place.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace simverbs::scenarios {

enum class TokenKind {
    Word,      ///< a name, number, unit or keyword
    Quoted,    ///< 'a name'
    Operator,  ///< < <= > >= == != ±
    End,
};

struct ExpectationToken {
    TokenKind kind = TokenKind::End;
    std::string text;        ///< of a Quoted: without the quotes; "=" reads "==", "+-" reads "±"
    std::size_t offset = 0;  ///< of its first byte in the statement
};

/// The words of a statement, with an End behind them. A quotation mark that is not closed runs to the end.
[[nodiscard]] std::vector<ExpectationToken> expectation_tokens(std::string_view text);

}  // namespace simverbs::scenarios
