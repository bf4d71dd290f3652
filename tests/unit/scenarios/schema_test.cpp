#include "scenarios/lang/schema.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>

#include "scenarios/lang/lab_schemas.hpp"
#include "scenarios/lang/section.hpp"

namespace simverbs::scenarios {
namespace {

constexpr std::array<std::string_view, 2> kColours{"red", "blue"};
constexpr std::array kThingFields{
    Field{.key = "size", .kind = FieldKind::Size, .default_text = "1 KiB", .least = "64 B", .most = "1 MiB"},
    Field{.key = "rate", .kind = FieldKind::Rate, .required = true},
    Field{.key = "colour", .kind = FieldKind::Choice, .default_text = "blue", .choices = kColours},
    Field{.key = "count", .kind = FieldKind::Integer, .default_text = "3", .least = "1"},
};
constexpr ComponentSchema kThing{"thing", "For tests.", kThingFields};

struct Checked {
    DiagnosticSink sink;
    YamlPtr root;
    std::optional<Section> section;

    explicit Checked(std::string_view text, const Section* base = nullptr) : root(parse_yaml(text, "f", sink)) {
        if (root != nullptr) section.emplace(kThing, *root, "thing", sink, base);
    }
};

TEST(Section, GivesWrittenValuesAndDefaults) {
    const Checked checked("rate: 10 Gb/s\ncount: 7\n");
    EXPECT_EQ(checked.sink.to_string(), "");
    EXPECT_EQ(checked.section->rate("rate"), sim::BitRate::gbps(10));
    EXPECT_EQ(checked.section->integer("count"), 7);
    EXPECT_EQ(checked.section->size("size"), 1024);
    EXPECT_EQ(checked.section->text("colour"), "blue");
    EXPECT_TRUE(checked.section->has("count"));
    EXPECT_FALSE(checked.section->has("size"));
}

TEST(Section, ReportsEverythingThatIsWrongAtOnce) {
    const Checked checked("size: 32 B\ncolour: rde\ncuont: 1\ncount: [1]\n");
    EXPECT_EQ(checked.sink.to_string(),
              "f:1:1: thing: the key 'rate' is missing; expected a rate such as '100 Gb/s' (units: b/s, kb/s, Mb/s, "
              "Gb/s, Tb/s)\n"
              "f:1:7: thing.size: '32 B' is too small; expected a size such as '64 KiB' (units: B, KB, KiB, MB, MiB, "
              "GB, GiB, TB) from 64 B to 1 MiB\n"
              "f:2:9: thing.colour: 'rde' is not a choice here; expected one of red, blue; did you mean 'red'?\n"
              "f:3:1: thing: unknown key 'cuont'; expected one of size, rate, colour, count; did you mean 'count'?\n"
              "f:4:8: thing.count: is a list; expected a whole number, at least 1\n");
}

TEST(Section, ALimitItselfIsAllowed) {
    EXPECT_TRUE(Checked("{rate: 1 b/s, size: 64 B}").sink.empty());
    EXPECT_TRUE(Checked("{rate: 1 b/s, size: 1 MiB}").sink.empty());
    EXPECT_FALSE(Checked("{rate: 1 b/s, size: 63 B}").sink.empty());
    EXPECT_FALSE(Checked("{rate: 1 b/s, size: 1048577 B}").sink.empty());
}

TEST(Section, InheritsWhatItDoesNotSayAndKeepsThePlaceOfIt) {
    const Checked base("rate: 10 Gb/s\ncount: 7\n");
    const Checked own("count: 8\n", &*base.section);
    EXPECT_EQ(own.sink.to_string(), "");
    EXPECT_EQ(own.section->rate("rate"), sim::BitRate::gbps(10));
    EXPECT_EQ(own.section->integer("count"), 8);
    EXPECT_EQ(to_string(own.section->position("rate")), "f:1:7");
    EXPECT_TRUE(own.section->has("rate"));
    EXPECT_FALSE(own.section->writes("rate"));
}

TEST(Schemas, EveryDefaultAndLimitIsItselfAValueOfItsField) {
    for (const ComponentSchema* schema : all_schemas()) {
        for (const Field& field : schema->fields) {
            for (const std::string_view text : {field.default_text, field.least, field.most}) {
                if (text.empty()) continue;
                DiagnosticSink sink;
                EXPECT_TRUE(read_field_value(field, text, {}, "", sink).has_value())
                    << schema->name << sink.to_string();
            }
        }
    }
}

TEST(Schemas, EveryFieldIsNamedOnceAndExplained) {
    for (const ComponentSchema* schema : all_schemas()) {
        EXPECT_FALSE(schema->help.empty()) << schema->name;
        std::set<std::string_view> keys;
        for (const Field& field : schema->fields) {
            EXPECT_TRUE(keys.insert(field.key).second) << schema->name << '.' << field.key;
            EXPECT_FALSE(field.help.empty()) << schema->name << '.' << field.key;
            EXPECT_EQ(field.help.find('\n'), std::string_view::npos) << schema->name << '.' << field.key;
            const bool is_choice = field.kind == FieldKind::Choice || field.kind == FieldKind::Choices;
            EXPECT_EQ(is_choice, !field.choices.empty()) << schema->name << '.' << field.key;
            EXPECT_EQ(field.kind == FieldKind::Structure, !field.shape.empty()) << schema->name << '.' << field.key;
            EXPECT_EQ(field.kind == FieldKind::Section, field.component != nullptr && field.forms == 0) << field.key;
            EXPECT_EQ(field.kind == FieldKind::Structure, field.forms != 0) << schema->name << '.' << field.key;
        }
    }
}

TEST(Schemas, TheReferenceNamesEveryComponentAndKey) {
    const std::string reference = describe_schema();
    for (const ComponentSchema* schema : all_schemas()) {
        EXPECT_NE(reference.find("## " + std::string(schema->name) + "\n"), std::string::npos) << schema->name;
        for (const Field& field : schema->fields) {
            EXPECT_NE(reference.find("| `" + std::string(field.key) + "` | "), std::string::npos) << field.key;
        }
    }
    EXPECT_NE(reference.find("| `forwarding` | When a packet may leave. | one of cut-through, store-and-forward | "
                             "`cut-through` |\n"),
              std::string::npos);
    EXPECT_NE(reference.find("| a rate | `100 Gb/s` | `b/s` `kb/s` `Mb/s` `Gb/s` `Tb/s` | b/s |\n"), std::string::npos);
}

}  // namespace
}  // namespace simverbs::scenarios
