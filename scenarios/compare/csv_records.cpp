#include "scenarios/compare/csv_records.hpp"

#include <algorithm>

namespace simverbs::scenarios::compare {

/// Takes one field and what ends it; true if another one of the same record follows.
bool CsvRecords::next_field(std::string& field) {
    field.clear();
    const bool is_quoted = !rest_.empty() && rest_.front() == '"';
    if (is_quoted) {
        rest_.remove_prefix(1);
        while (!rest_.empty()) {
            const char c = rest_.front();
            rest_.remove_prefix(1);
            if (c == '\n') ++next_line_;
            if (c == '"') {
                if (rest_.empty() || rest_.front() != '"') break;
                rest_.remove_prefix(1);
            }
            field += c;
        }
    }
    const std::size_t end = std::min(rest_.find_first_of(",\n"), rest_.size());
    field += rest_.substr(0, end);
    rest_.remove_prefix(end);
    if (rest_.empty()) return false;
    const bool more = rest_.front() == ',';
    if (!more) ++next_line_;
    rest_.remove_prefix(1);
    return more;
}

bool CsvRecords::next(std::vector<std::string>& fields) {
    if (rest_.empty()) return false;
    line_ = next_line_;
    std::size_t count = 0;
    bool more = true;
    while (more) {
        if (count == fields.size()) fields.emplace_back();
        more = next_field(fields[count++]);
    }
    fields.resize(count);
    return true;
}

std::vector<std::size_t> columns_named(const std::vector<std::string>& header, const std::vector<std::string>& names,
                                       std::vector<std::string>& missing) {
    std::vector<std::size_t> out;
    for (const std::string& name : names) {
        const auto at = std::find(header.begin(), header.end(), name);
        if (at == header.end()) missing.push_back(name);
        out.push_back(static_cast<std::size_t>(at - header.begin()));
    }
    return out;
}

}  // namespace simverbs::scenarios::compare
