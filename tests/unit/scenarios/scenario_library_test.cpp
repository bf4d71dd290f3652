// The scenarios that come with simverbs, the reference manual and the JSON Schema.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "scenarios/lang/json_schema.hpp"
#include "tests/unit/scenarios/scenario_test_support.hpp"

namespace simverbs::scenarios {
namespace {

std::vector<std::filesystem::path> library_scenarios() {
    std::vector<std::filesystem::path> files;
    for (const char* folder : {"scenarios/library/scenarios", "scenarios/library/bench"}) {
        for (const auto& entry : std::filesystem::directory_iterator(testing::source_root() / folder)) {
            // What several scenarios include is none itself.
            if (entry.path().extension() == ".yaml" && entry.path().stem() != "common") files.push_back(entry.path());
        }
    }
    std::sort(files.begin(), files.end());
    return files;
}

TEST(ScenarioLibrary, EveryScenarioIsRightAndHasExpectations) {
    const auto files = library_scenarios();
    EXPECT_GE(files.size(), 14U);
    for (const std::filesystem::path& file : files) {
        DiagnosticSink sink;
        const auto runs = load_scenario(file.string(), testing::scenario_options(), sink);
        EXPECT_EQ(sink.to_string(), "");
        ASSERT_TRUE(runs.has_value()) << file;
        for (const ScenarioSpec& run : *runs) {
            EXPECT_EQ(run.lab.name, file.stem().string());
            EXPECT_FALSE(run.workloads.empty() && run.programs.empty()) << file;
            EXPECT_FALSE(run.expectations.empty()) << file;
        }
    }
}

TEST(ScenarioLibrary, EveryScenarioBeginsWithAParagraphOnWhatItTeaches) {
    for (const std::filesystem::path& file : library_scenarios()) {
        const std::string text = testing::file_text(file);
        EXPECT_TRUE(text.starts_with("# ")) << file;
        EXPECT_GT(text.find("\nname: "), 100U) << file;
    }
}

TEST(ScenarioLibrary, EveryLabIsAScenario) {
    for (const auto& entry : std::filesystem::directory_iterator(testing::library_dir())) {
        DiagnosticSink sink;
        EXPECT_TRUE(load_scenario(entry.path().string(), testing::scenario_options(), sink).has_value());
        EXPECT_EQ(sink.to_string(), "");
    }
}

TEST(ScenarioReference, NamesEveryMetricAndParameter) {
    const std::string reference = describe_schema();
    for (const MetricInfo& info : metrics()) {
        EXPECT_NE(reference.find("| `" + std::string(info.name) + "` | "), std::string::npos) << info.name;
    }
    const std::string algorithms = describe_algorithms(testing::known_algorithms());
    EXPECT_NE(algorithms.find("## cc dcqcn\n"), std::string::npos);
    EXPECT_NE(algorithms.find("| `rpg_ai_rate` | Step of additive increase. | a rate such as"), std::string::npos);
}

/// Every "$ref" leads somewhere.
void check_references(const nlohmann::json& node, const nlohmann::json& root) {
    if (node.is_object()) {
        const auto reference = node.find("$ref");
        if (reference != node.end() && reference->is_string()) {
            const std::string target = reference->get<std::string>();
            ASSERT_TRUE(target.starts_with("#/$defs/"));
            EXPECT_TRUE(root.at("$defs").contains(target.substr(8))) << target;
        }
    }
    for (const auto& child : node) {
        if (child.is_structured()) check_references(child, root);
    }
}

TEST(JsonSchema, HasEveryKeyAndNoDanglingReference) {
    const auto schema = nlohmann::json::parse(json_schema(testing::known_algorithms()));
    check_references(schema, schema);
    for (const ComponentSchema* component : all_schemas()) {
        std::string name(component->name);
        std::replace(name.begin(), name.end(), ' ', '-');
        const nlohmann::json& node = name == "scenario" ? schema : schema.at("$defs").at(name);
        EXPECT_EQ(node.at("type"), "object");
        for (const Field& field : component->fields) {
            EXPECT_TRUE(node.at("properties").contains(std::string(field.key))) << name << '.' << field.key;
        }
    }
    const auto& cc = schema.at("$defs").at("cc").at("properties");
    EXPECT_TRUE(cc.contains("rpg_ai_rate"));
    EXPECT_EQ(cc.at("dcqcn").at("properties").at("preset").at("enum").at(0), "paper");
}

}  // namespace
}  // namespace simverbs::scenarios
