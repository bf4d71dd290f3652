// One thing that is wrong in a file that a user wrote, and the collection of all of them.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace simverbs::scenarios {

/// A place in a source file. Lines and columns count from 1 (a column is a byte of the UTF-8 text); 0 means unknown.
struct SourcePosition {
    std::shared_ptr<const std::string> file;
    int line = 0;
    int column = 0;

    /// The file's name as the user gave it; empty if unknown.
    [[nodiscard]] std::string_view file_name() const noexcept { return file ? std::string_view(*file) : ""; }
};

/// "FILE:LINE:COLUMN", with the unknown parts left out.
[[nodiscard]] std::string to_string(const SourcePosition& position);

/// A user's mistake. `path` names the element ("hosts.h0.nics.mlx5_0.mtu"), `problem` says what is wrong with it,
/// `expected` what would be right (without the word "expected"), `hint` what to do next ("did you mean 'x'?").
/// Only `problem` is always present.
struct Diagnostic {
    std::string file;
    int line = 0;
    int column = 0;
    std::string path;
    std::string problem;
    std::string expected;
    std::string hint;
};

/// "file:line:column: path: problem; expected …; hint", with the absent parts left out.
[[nodiscard]] std::string to_string(const Diagnostic& diagnostic);

/// Collects every mistake, so that a user sees all of them at once. A result may be built only from a file that added
/// nothing. The same problem at the same place counts once. Keeps the first kMaxKept and counts the rest: a hostile
/// file cannot fill the memory.
class DiagnosticSink {
  public:
    static constexpr std::size_t kMaxKept = 200;

    void add(Diagnostic diagnostic);
    void add(const SourcePosition& position, std::string path, std::string problem, std::string expected = {},
             std::string hint = {});

    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
    /// Everything that another one has collected.
    void merge(const DiagnosticSink& other);
    /// Whatever is still said of this place follows from what has been said: it is left out.
    void mute(const SourcePosition& position);
    /// Further ones are only counted: no need to look for hints.
    [[nodiscard]] bool is_full() const noexcept { return kept_.size() >= kMaxKept; }
    /// All that were added, including those that were not kept.
    [[nodiscard]] std::size_t count() const noexcept { return count_; }
    /// The same with those that are known already: tells whether something was found to be wrong meanwhile.
    [[nodiscard]] std::size_t reports() const noexcept { return reports_; }
    /// The kept ones in the order of their discovery.
    [[nodiscard]] const std::vector<Diagnostic>& kept() const noexcept { return kept_; }
    /// The kept ones, ordered by place; those of one place in the order of their discovery.
    [[nodiscard]] std::vector<Diagnostic> sorted() const;
    /// One line for each kept diagnostic, each ended by a newline; then a line that counts those left out, if any.
    [[nodiscard]] std::string to_string() const;

  private:
    std::vector<Diagnostic> kept_;
    std::vector<SourcePosition> muted_;
    std::size_t count_ = 0;
    std::size_t reports_ = 0;
};

/// Longer texts are cut in messages; names of files, which people want to look up, only much later.
inline constexpr std::size_t kMaxQuotedBytes = 60;
inline constexpr std::size_t kMaxQuotedFileBytes = 4096;
/// `text` in single quotes for a message: control characters are escaped, a long text is cut.
[[nodiscard]] std::string in_quotes(std::string_view text, std::size_t most = kMaxQuotedBytes);

}  // namespace simverbs::scenarios
