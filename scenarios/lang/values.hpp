// The values of one map of the file, checked and complete, that outlive the file's tree.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/lang/diagnostic.hpp"
#include "scenarios/lang/field_value.hpp"
#include "scenarios/lang/schema.hpp"
#include "scenarios/lang/section.hpp"
#include "sim/sim_time.hpp"
#include "sim/units.hpp"

namespace simverbs::scenarios {

/// One value and where it comes from.
struct CheckedValue {
    FieldKind kind = FieldKind::Text;
    FieldValue value;
    bool is_written = false;  ///< by the file; else it is the table's default
    std::string path;
    SourcePosition position;
};

/// Checked values by key. A key that the file does not write and that has no default is absent: has() is false, and
/// its getter gives zero or "". Asking for a value as another kind is our bug (SIM_CHECK).
class Values {
  public:
    Values() = default;
    /// All keys of `section` that have a value, except Sections and Structures.
    explicit Values(const Section& section);

    void set(std::string_view key, CheckedValue value);

    [[nodiscard]] bool has(std::string_view key) const noexcept { return find(key) != nullptr; }
    [[nodiscard]] const CheckedValue* find(std::string_view key) const noexcept;
    [[nodiscard]] const std::map<std::string, CheckedValue, std::less<>>& all() const noexcept { return values_; }

    [[nodiscard]] std::string text(std::string_view key) const { return value_of<std::string>(key); }
    [[nodiscard]] int64_t integer(std::string_view key) const { return value_of<int64_t>(key); }
    [[nodiscard]] bool flag(std::string_view key) const { return value_of<bool>(key); }
    /// A Number or a Probability.
    [[nodiscard]] double number(std::string_view key) const { return value_of<double>(key); }
    [[nodiscard]] std::vector<int64_t> integers(std::string_view key) const {
        return value_of<std::vector<int64_t>>(key);
    }
    [[nodiscard]] sim::BitRate rate(std::string_view key) const { return sim::BitRate::bps(integer(key)); }
    [[nodiscard]] sim::ByteCount size(std::string_view key) const { return integer(key); }
    [[nodiscard]] sim::SimTime time(std::string_view key) const { return sim::SimTime::ps(integer(key)); }
    /// Does a word (Field::words) stand instead of the quantity?
    [[nodiscard]] bool is_word(std::string_view key, std::string_view word) const;

  private:
    template <typename T>
    [[nodiscard]] T value_of(std::string_view key) const;

    std::map<std::string, CheckedValue, std::less<>> values_;
};

}  // namespace simverbs::scenarios
