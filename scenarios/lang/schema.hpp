// What a component of the language accepts: one table of fields. The loader checks against it, the reference manual
// is generated from it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace simverbs::scenarios {

enum class FieldKind {
    Text,     ///< any text
    Name,     ///< letters, digits, '_' and '-'; begins with a letter; at most 63 characters
    Integer,  ///< a whole number
    Flag,     ///< true or false
    Choice,   ///< one of `choices`
    Choices,  ///< one or a list of `choices`
    Rate,     ///< a QuantityKind
    Size,
    Time,
    Length,
    Probability,  ///< 0…1 or a percentage
    Number,       ///< a number that measures nothing: 0.8, 1e-3, 1/256
    Integers,     ///< one or a list of whole numbers
    Ipv4,         ///< 10.0.0.1
    Mac,          ///< 02:00:00:00:00:01
    Guid,         ///< 0x0002c90300a0b1c2 or 0002:c903:00a0:b1c2
    Gid,          ///< 128 bits, written as an IPv6 address
    Section,      ///< a map that `component` describes
    Structure,    ///< lists and maps in several forms, which `shape` describes and the component's reader checks
};

struct ComponentSchema;

/// The forms in which a Structure may be written; a JSON Schema is made from them. Any of these, or'ed.
enum StructureForm : unsigned {
    kFormNumber = 1U << 0U,     ///< a whole number
    kFormText = 1U << 1U,       ///< a name or another text
    kFormTexts = 1U << 2U,      ///< a list of texts
    kFormList = 1U << 3U,       ///< a list of `component` (or of `variants`)
    kFormMap = 1U << 4U,        ///< one `component` (or one of `variants`)
    kFormNamedMap = 1U << 5U,   ///< a map from names to `component`
    kFormValuesMap = 1U << 6U,  ///< a map from names to single values or lists of them
};

/// One key of a component. Defaults and limits are written as a user would write them and read by the same code.
struct Field {
    std::string_view key;
    FieldKind kind = FieldKind::Text;
    std::string_view default_text = {};  ///< "" = none
    std::string_view help = {};          ///< one line
    std::string_view least = {};         ///< inclusive; "" = no limit
    std::string_view most = {};
    std::span<const std::string_view> choices = {};
    const ComponentSchema* component = nullptr;  ///< what a Section or the parts of a Structure look like
    std::string_view shape = {};                 ///< of a Structure, for messages and the manual
    std::string_view default_note = {};          ///< in the manual instead of default_text, where it depends
    bool required = false;
    std::span<const std::string_view> words = {};  ///< of a quantity: words that may stand instead ("auto")
    unsigned forms = 0;                            ///< of a Structure: StructureForm
    /// Of a Structure: the components that its `kind` chooses from, or nullptr.
    std::span<const ComponentSchema* const> (*variants)() noexcept = nullptr;
};

/// One component: its name in the manual, what it is, its keys.
struct ComponentSchema {
    std::string_view name;
    std::string_view help;
    std::span<const Field> fields;

    /// The field named `key`, or nullptr.
    [[nodiscard]] const Field* find(std::string_view key) const noexcept;
    [[nodiscard]] std::vector<std::string_view> keys() const;
};

/// What a value of this field should look like, for messages and the manual: "a rate such as … , from … to …".
[[nodiscard]] std::string expected_value(const Field& field);

/// Every component of the language in the manual's order: the one list of what exists.
[[nodiscard]] std::span<const ComponentSchema* const> all_schemas() noexcept;

/// The reference manual of the language in Markdown, from the tables alone.
[[nodiscard]] std::string describe_schema();

}  // namespace simverbs::scenarios
