#include "scenarios/lang/diagnostic.hpp"

#include <gtest/gtest.h>

#include "scenarios/lang/did_you_mean.hpp"

namespace simverbs::scenarios {
namespace {

SourcePosition at(int line, int column) {
    return {std::make_shared<const std::string>("lab.yaml"), line, column};
}

TEST(Diagnostic, IsPrintedWithPlacePathProblemExpectedAndHint) {
    const Diagnostic full{"lab.yaml", 3, 7, "hosts.h0", "'4' is odd", "an even number", "did you mean '5'?"};
    EXPECT_EQ(to_string(full), "lab.yaml:3:7: hosts.h0: '4' is odd; expected an even number; did you mean '5'?");
}

TEST(Diagnostic, LeavesOutWhatItDoesNotKnow) {
    EXPECT_EQ(to_string(Diagnostic{.file = "lab.yaml", .problem = "is empty"}), "lab.yaml: is empty");
    EXPECT_EQ(to_string(Diagnostic{.problem = "is empty"}), "is empty");
}

TEST(DiagnosticSink, KeepsAllAndSortsByPlace) {
    DiagnosticSink sink;
    sink.add(at(9, 1), "b", "second");
    sink.add(at(2, 5), "a", "first");
    sink.add(at(9, 1), "c", "third");
    EXPECT_EQ(sink.count(), 3U);
    EXPECT_EQ(sink.to_string(), "lab.yaml:2:5: a: first\nlab.yaml:9:1: b: second\nlab.yaml:9:1: c: third\n");
}

TEST(DiagnosticSink, CountsTheSameProblemAtTheSamePlaceOnce) {
    DiagnosticSink sink;
    sink.add(at(2, 5), "hosts.h0", "bad");
    sink.add(at(2, 5), "hosts.h1", "bad");
    EXPECT_EQ(sink.count(), 1U);
}

TEST(DiagnosticSink, CountsWhatItDoesNotKeep) {
    DiagnosticSink sink;
    for (int i = 1; i <= 1000; ++i) sink.add(at(i, 1), "", "bad");
    EXPECT_EQ(sink.count(), 1000U);
    EXPECT_EQ(sink.sorted().size(), DiagnosticSink::kMaxKept);
    EXPECT_TRUE(sink.to_string().ends_with("and 800 more\n"));
}

TEST(Quoted, EscapesControlCharactersAndCutsLongText) {
    EXPECT_EQ(in_quotes("a\nb\x01"), "'a\\nb\\x01'");
    const std::string cut = in_quotes(std::string(59, 'x') + "éé");
    EXPECT_EQ(cut, "'" + std::string(59, 'x') + "…'");
}

TEST(DidYouMean, FindsTypingMistakes) {
    const std::vector<std::string_view> keys{"latency", "length", "link_layer", "ports"};
    EXPECT_EQ(nearest_name("latnecy", keys), "latency");
    EXPECT_EQ(nearest_name("lenght", keys), "length");
    EXPECT_EQ(nearest_name("Link-Layer", keys), "link_layer");
    EXPECT_EQ(nearest_name("port", keys), "ports");
}

TEST(DidYouMean, StaysSilentWhenNothingIsNear) {
    EXPECT_EQ(did_you_mean("colour", {"latency", "length"}), "");
    EXPECT_EQ(did_you_mean("", {"latency"}), "");
    EXPECT_EQ(did_you_mean(std::string(100'000, 'x'), {"latency"}), "");
}

}  // namespace
}  // namespace simverbs::scenarios
