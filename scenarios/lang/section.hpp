// A map of the file, checked against the schema of its component.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/lang/diagnostic.hpp"
#include "scenarios/lang/field_value.hpp"
#include "scenarios/lang/length.hpp"
#include "scenarios/lang/schema.hpp"
#include "scenarios/lang/yaml_tree.hpp"
#include "sim/sim_time.hpp"
#include "sim/units.hpp"

namespace simverbs::scenarios {

/// The checked values of one component. A getter gives the value of the file, else that of the section it inherits
/// from, else the table's default, else zero or "". What was wrong in the file has been reported and reads as
/// absent, so that a reader can go on and find the rest. Asking for a key that is not in the schema, or as another
/// kind, is our bug (SIM_CHECK).
class Section {
  public:
    /// Checks `node` (a Map or Null; all else is reported) against `schema`: unknown keys, kinds, ranges, required
    /// keys. `base` (of the same schema, or nullptr) supplies what `node` does not say. Both must outlive the Section.
    Section(const ComponentSchema& schema, const YamlValue& node, std::string path, DiagnosticSink& sink,
            const Section* base = nullptr);

    /// Written in the file (here or in a base section) and right.
    [[nodiscard]] bool has(std::string_view key) const;
    /// Written in this very map, right or wrong.
    [[nodiscard]] bool writes(std::string_view key) const;

    [[nodiscard]] std::string text(std::string_view key) const;
    [[nodiscard]] int64_t integer(std::string_view key) const;
    [[nodiscard]] bool flag(std::string_view key) const;
    [[nodiscard]] double probability(std::string_view key) const;
    [[nodiscard]] double number(std::string_view key) const;
    [[nodiscard]] std::vector<std::string> choices(std::string_view key) const;
    [[nodiscard]] std::vector<int64_t> integers(std::string_view key) const;
    /// The word that stands instead of a quantity (Field::words), or "".
    [[nodiscard]] std::string word(std::string_view key) const;
    [[nodiscard]] GidBytes gid(std::string_view key) const;
    [[nodiscard]] sim::BitRate rate(std::string_view key) const;
    [[nodiscard]] sim::ByteCount size(std::string_view key) const;
    [[nodiscard]] sim::SimTime time(std::string_view key) const;
    [[nodiscard]] Length length(std::string_view key) const;
    /// Of two keys that exclude each other: does the nearest map that writes one of them write `key`?
    [[nodiscard]] bool prefers(std::string_view key, std::string_view other) const;
    /// Reports maps (this, or one that it inherits from) that write both.
    void refuse_both(std::string_view key, std::string_view other, DiagnosticSink& sink) const;
    /// The tree of a Section or Structure key as written (here or in a base section), or nullptr.
    [[nodiscard]] const YamlValue* node(std::string_view key) const;

    /// The same, but only if it is written in this very map; else null_value().
    [[nodiscard]] const YamlValue& own_node(std::string_view key) const;
    [[nodiscard]] const Section* base() const noexcept { return base_; }

    /// Where the value of `key` stands; of an absent one, where this map stands.
    [[nodiscard]] SourcePosition position(std::string_view key) const;
    [[nodiscard]] const SourcePosition& position() const noexcept { return position_; }
    /// The path of this map; of a key: in the map that writes it.
    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    [[nodiscard]] std::string path(std::string_view key) const;
    [[nodiscard]] const ComponentSchema& schema() const noexcept { return *schema_; }
    /// The value that a getter would give; nullopt where the file says nothing and the table has no default.
    [[nodiscard]] std::optional<FieldValue> value(std::string_view key) const;

  private:
    void check_entry(const YamlEntry& entry, DiagnosticSink& sink);
    void check_choices(const Field& field, const YamlValue& value, DiagnosticSink& sink);
    void check_integers(const Field& field, const YamlValue& value, DiagnosticSink& sink);
    void check_required(DiagnosticSink& sink) const;
    [[nodiscard]] const FieldValue* find(std::string_view key) const;
    template <typename T>
    [[nodiscard]] T value_of(std::string_view key) const;

    const ComponentSchema* schema_;
    const YamlValue* node_;
    const Section* base_;
    std::string path_;
    SourcePosition position_;
    std::map<std::string, FieldValue, std::less<>> values_;
    std::map<std::string, const YamlValue*, std::less<>> nodes_;
};

/// The map at `key` of a section, each of whose keys is inherited by itself from the same map of the section's base.
class InheritedSection {
  public:
    InheritedSection(const ComponentSchema& schema, const Section& parent, std::string_view key, DiagnosticSink& sink);
    const Section& operator*() const noexcept { return section_; }
    const Section* operator->() const noexcept { return &section_; }

  private:
    std::unique_ptr<const InheritedSection> base_;
    Section section_;
};

/// A Null, to stand for an absent map.
[[nodiscard]] const YamlValue& null_value() noexcept;

/// "parent.key", or "key" at the top.
[[nodiscard]] std::string child_path(const std::string& parent, std::string_view key);
/// "parent[3]".
[[nodiscard]] std::string item_path(const std::string& parent, std::size_t index);

/// Reports that `value` has the wrong shape: "is a list; expected …".
void report_wrong_shape(const YamlValue& value, const std::string& path, std::string expected, DiagnosticSink& sink);

}  // namespace simverbs::scenarios
