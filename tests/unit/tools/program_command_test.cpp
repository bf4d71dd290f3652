#include "tools/simverbs/program_command.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tools/simverbs/user_error.hpp"

namespace simverbs::tools {
namespace {

using Words = std::vector<std::string>;

TEST(ProgramCommand, WordsAreSplitAsAShellDoes) {
    EXPECT_EQ(split_words("  ib_send_bw  -n 100\th0 "), (Words{"ib_send_bw", "-n", "100", "h0"}));
    EXPECT_EQ(split_words(R"(a 'b c' "d e" f\ g)"), (Words{"a", "b c", "d e", "f g"}));
    EXPECT_EQ(split_words(R"("a\"b" 'c\d' "")"), (Words{"a\"b", "c\\d", ""}));
    EXPECT_EQ(split_words("a'b'\"c\""), (Words{"abc"}));
    EXPECT_TRUE(split_words("   ").empty());
}

TEST(ProgramCommand, AnOpenQuoteIsAMistake) {
    EXPECT_THROW((void)split_words("echo 'a"), UserError);
    EXPECT_THROW((void)split_words("echo \"a"), UserError);
}

TEST(ProgramCommand, OnlyWhatAShellMustDoGoesToAShell) {
    EXPECT_FALSE(needs_shell("ib_send_bw -n 100 h0"));
    EXPECT_FALSE(needs_shell("sh -c 'a; b | c'"));
    EXPECT_FALSE(needs_shell(R"(printf "a;b" \;)"));
    EXPECT_TRUE(needs_shell("a; b"));
    EXPECT_TRUE(needs_shell("a | b"));
    EXPECT_TRUE(needs_shell("a > file"));
    EXPECT_TRUE(needs_shell("echo $HOME"));
    EXPECT_TRUE(needs_shell("echo \"$HOME\""));
    EXPECT_TRUE(needs_shell("cat *.txt"));
    EXPECT_TRUE(needs_shell("UCX_TLS=rc ucx_info"));
    EXPECT_FALSE(needs_shell("dd if=/dev/zero of=x"));
}

TEST(ProgramCommand, AProgramIsFoundInPath) {
    const ProgramCommand command = parse_program(std::string_view("ls -l"));
    EXPECT_EQ(command.argv, (Words{"ls", "-l"}));
    EXPECT_EQ(std::filesystem::path(command.file).filename(), "ls");
    EXPECT_FALSE(command.by_shell);
}

std::string message_of(std::string_view text) {
    try {
        (void)parse_program(text);
    } catch (const UserError& error) {
        return error.what();
    }
    return {};
}

TEST(ProgramCommand, WhatCannotBeRunIsSaidInOneSentence) {
    EXPECT_EQ(message_of("no_such_program_here -x"),
              "no_such_program_here: no such program in PATH; install it, or give its path");
    EXPECT_EQ(message_of("/no/such/file"), "/no/such/file: No such file or directory");
    EXPECT_EQ(message_of("/tmp"), "/tmp: is a folder, not a program");
    EXPECT_EQ(message_of(""), "the command is empty; expected a program and its arguments");
}

TEST(ProgramCommand, ATextFileWithoutTheRightToExecuteIsRefused) {
    const std::string file = ::testing::TempDir() + "/not_executable";
    std::ofstream(file) << "#!/bin/sh\n";
    ::chmod(file.c_str(), 0644);
    EXPECT_EQ(message_of(file), file + ": is not executable");
    ::chmod(file.c_str(), 0755);
    EXPECT_EQ(message_of(file), "");
    EXPECT_EQ(linkage_of(file), Linkage::Script);
}

TEST(ProgramCommand, LinkageIsReadFromTheFile) {
    EXPECT_EQ(linkage_of("/proc/self/exe"), Linkage::Dynamic);
    EXPECT_EQ(linkage_of("/etc/passwd"), Linkage::NotExecutable);
}

}  // namespace
}  // namespace simverbs::tools
