// Reading comma-separated values (RFC 4180) as csv_field writes them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace simverbs::scenarios::compare {

/// The records of a text, one after the other. A field in quotation marks may have commas and line feeds.
class CsvRecords {
  public:
    explicit CsvRecords(std::string_view text) : rest_(text) {}

    /// The next record's fields; false at the end.
    bool next(std::vector<std::string>& fields);
    /// Where the last record began, from 1.
    [[nodiscard]] int line() const noexcept { return line_; }

  private:
    bool next_field(std::string& field);

    std::string_view rest_;
    int line_ = 0;
    int next_line_ = 1;
};

/// Where each of `names` stands in the header; names of those that are missing go to `missing`.
[[nodiscard]] std::vector<std::size_t> columns_named(const std::vector<std::string>& header,
                                                     const std::vector<std::string>& names,
                                                     std::vector<std::string>& missing);

}  // namespace simverbs::scenarios::compare
