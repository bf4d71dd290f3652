// JUnit's XML, as CI systems read it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "scenarios/expect/verdict.hpp"
#include "scenarios/run/run_result.hpp"

namespace simverbs::scenarios::output {

struct JunitRun {
    const run::RunResult* result = nullptr;
    const std::vector<expect::ExpectationVerdict>* verdicts = nullptr;
    std::string command;  ///< that runs it again
};

/// A test suite for each run, a test case for each verdict (and "run" if there is none). What failed is a <failure>,
/// what could not be evaluated an <error>; both have the sentence, the seed and the command. No times: the same runs
/// give the same bytes.
[[nodiscard]] std::string junit_xml(std::span<const JunitRun> runs);

/// What cannot stand in XML is replaced: & < > " and control characters.
[[nodiscard]] std::string xml_text(std::string_view text);

}  // namespace simverbs::scenarios::output
