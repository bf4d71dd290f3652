// A text file of foreign make, line by line and word by word, with the place of everything.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/lang/diagnostic.hpp"
#include "sim/sim_time.hpp"
#include "sim/units.hpp"

namespace simverbs::scenarios::imports {

/// A word of a line; `text` points into the file's text.
struct Word {
    std::string_view text;
    int column = 1;
};

/// Steps through the lines of a text; the text must outlive it.
class TextLines {
  public:
    TextLines(std::string_view text, std::string_view file);

    /// To the next line, empty ones included; false at the end.
    bool next();
    /// To the next line that has words.
    bool next_with_words();
    [[nodiscard]] std::string_view line() const noexcept { return line_; }
    /// Separated by spaces and tabs.
    [[nodiscard]] const std::vector<Word>& words() const noexcept { return words_; }
    /// Of the line, or of a column in it.
    [[nodiscard]] SourcePosition place(int column = 0) const;

  private:
    std::string_view rest_;
    std::string_view line_;
    std::vector<Word> words_;
    SourcePosition position_;
};

/// Goes to the end; how many lines begin with a number.
[[nodiscard]] uint32_t count_unread_lines(TextLines& lines);

/// False, with a problem in `sink`, if the text is not text.
bool check_is_text(std::string_view text, std::string_view file, DiagnosticSink& sink);

/// The whole of `word` as a number; nothing else.
template <class Number>
[[nodiscard]] std::optional<Number> parse_number(std::string_view word, int base = 10) {
    Number value{};
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, base);
    if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
    return value;
}
/// A finite decimal number.
[[nodiscard]] std::optional<double> parse_real(std::string_view word);

/// ns-3's spellings: "100Gbps", "400Gb/s", "12.5MB/s"; "0.001ms", "1000ns".
[[nodiscard]] std::optional<sim::BitRate> parse_ns3_rate(std::string_view word);
[[nodiscard]] std::optional<sim::SimTime> parse_ns3_time(std::string_view word);
/// Seconds as a decimal number, a whole count of picoseconds, not negative.
[[nodiscard]] std::optional<sim::SimTime> parse_seconds(std::string_view word);

/// Reports what is wrong at words of the present line.
class LineProblems {
  public:
    LineProblems(const TextLines& lines, DiagnosticSink& sink) : lines_(lines), sink_(sink) {}
    void add(const Word& word, std::string problem, std::string expected, std::string hint = {});
    void add_line(std::string problem, std::string expected, std::string hint = {});

    /// The number in `word`, or a problem that says `expected`.
    template <class Number>
    std::optional<Number> number(const Word& word, std::string_view what, Number least, Number most) {
        const auto value = parse_number<Number>(word.text);
        if (value && *value >= least && *value <= most) return value;
        add(word, in_quotes(word.text) + " is no " + std::string(what),
            "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
        return std::nullopt;
    }

  private:
    const TextLines& lines_;
    DiagnosticSink& sink_;
};

}  // namespace simverbs::scenarios::imports
