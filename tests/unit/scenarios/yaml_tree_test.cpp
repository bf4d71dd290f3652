#include "scenarios/lang/yaml_tree.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace simverbs::scenarios {
namespace {

std::string errors_of(std::string_view text) {
    DiagnosticSink sink;
    const YamlPtr root = parse_yaml(text, "f.yaml", sink);
    EXPECT_EQ(root == nullptr, !sink.empty());
    return sink.to_string();
}

std::string repeated(std::string_view part, std::size_t times) {
    std::string out;
    for (std::size_t i = 0; i < times; ++i) out += part;
    return out;
}

TEST(YamlTree, EveryKeyAndValueKnowsItsPlace) {
    DiagnosticSink sink;
    const YamlPtr root = parse_yaml("name: x\nhosts:\n  - h0\n  - {nics: 2}\n", "f.yaml", sink);
    ASSERT_NE(root, nullptr) << sink.to_string();
    EXPECT_EQ(to_string(root->entries[0].key_position), "f.yaml:1:1");
    EXPECT_EQ(to_string(root->find("name")->position), "f.yaml:1:7");
    const YamlValue& hosts = *root->find("hosts");
    EXPECT_EQ(to_string(hosts.items[0]->position), "f.yaml:3:5");
    EXPECT_EQ(to_string(hosts.items[1]->position), "f.yaml:4:5");
    EXPECT_EQ(to_string(hosts.items[1]->entries[0].key_position), "f.yaml:4:6");
    EXPECT_EQ(to_string(hosts.items[1]->find("nics")->position), "f.yaml:4:12");
}

TEST(YamlTree, AnAliasSharesTheValueOfItsAnchor) {
    DiagnosticSink sink;
    const YamlPtr root = parse_yaml("a: &x {k: v}\nb: *x\n", "f.yaml", sink);
    ASSERT_NE(root, nullptr) << sink.to_string();
    EXPECT_EQ(root->find("a"), root->find("b"));
}

TEST(YamlTree, AByteOrderMarkIsAccepted) {
    EXPECT_EQ(errors_of("\xEF\xBB\xBFname: x\n"), "");
}

TEST(YamlTree, DuplicateKeysAreErrorsEachAtItsPlace) {
    EXPECT_EQ(errors_of("a: 1\nb: 2\na: 3\nc: {x: 1, x: 2}\n"),
              "f.yaml:3:1: the key 'a' is given twice; the first is in line 1\n"
              "f.yaml:4:11: the key 'x' is given twice; the first is in line 4\n");
}

TEST(YamlTree, AnAliasInsideItsAnchorIsAnErrorAndNotACycle) {
    EXPECT_EQ(errors_of("a: &x [1, *x]\n"), "f.yaml:1:11: the alias stands inside the value that it refers to\n");
    EXPECT_EQ(errors_of("a: &x {b: {c: *x}}\n"), "f.yaml:1:15: the alias stands inside the value that it refers to\n");
}

TEST(YamlTree, AliasesThatMultiplyAreStopped) {
    std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
    for (int i = 1; i < 10; ++i) {
        const std::string before = "*a" + std::to_string(i - 1);
        text +=
            "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + repeated(before + " , ", 9) + before + " ]\n";
    }
    EXPECT_NE(errors_of(text).find("too many values (aliases count each time); expected at most 1000000"),
              std::string::npos);
}

TEST(YamlTree, SixtyFourLevelsAreAcceptedAndOneMoreIsNot) {
    const auto nested = [](std::size_t levels) {
        return "a: " + repeated("[", levels - 1) + repeated("]", levels - 1);
    };
    EXPECT_EQ(errors_of(nested(64)), "");
    EXPECT_EQ(errors_of(nested(65)), "f.yaml:1:67: nested too deeply; expected at most 64 levels\n");
}

TEST(YamlTree, EndlessNestingOfEveryKindIsAnError) {
    for (const char* part : {"[", "{a: ", "- ", "? ", "&a ", "!x ", "*a ", "[a, ", "a: \"", "? [", "a:\n "}) {
        EXPECT_NE(errors_of(repeated(part, 20'000)), "") << part;
    }
}

TEST(YamlTree, BinaryFilesAreRefusedAtTheFirstBadByte) {
    EXPECT_EQ(errors_of(std::string_view("a: 1\nb\0c", 8)),
              "f.yaml:2:2: the byte 0x00 does not belong in a text file; expected UTF-8 text\n");
    EXPECT_EQ(errors_of("a: \xFF\n"),
              "f.yaml:1:4: the byte 0xff does not belong in a text file; expected UTF-8 text\n");
    // Overlong, surrogate, beyond U+10FFFF, cut off.
    for (const char* bad : {"\xC0\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82"}) {
        EXPECT_NE(errors_of(bad).find("does not belong in a text file"), std::string::npos);
    }
}

TEST(YamlTree, AFileOfMoreThanSixteenMebibytesIsRefused) {
    EXPECT_EQ(errors_of(std::string((std::size_t{16} << 20) + 1, '#')),
              "f.yaml: the file is too large; expected at most 16 MiB\n");
}

TEST(YamlTree, WhatIsNotARegularFileIsRefused) {
    const auto error_of = [](const std::string& path) {
        DiagnosticSink sink;
        std::string text;
        EXPECT_FALSE(read_text_file(path, text, sink));
        return sink.to_string();
    };
    EXPECT_EQ(error_of("/nonexistent/lab.yaml"), "/nonexistent/lab.yaml: there is no such file\n");
    EXPECT_EQ(error_of("/"), "/: is not a regular file\n");
    EXPECT_EQ(error_of("/dev/zero"), "/dev/zero: is not a regular file\n");
}

}  // namespace
}  // namespace simverbs::scenarios
