// Compares the diagnostics of a reader with those expected.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "scenarios/lang/diagnostic.hpp"

namespace simverbs::scenarios::imports {

/// Each of `parts` stands in some diagnostic, and there are no more diagnostics than parts.
inline void expect_problems(const DiagnosticSink& sink, const std::vector<std::string>& parts) {
    const std::string text = sink.to_string();
    for (const std::string& part : parts) EXPECT_NE(text.find(part), std::string::npos) << part << "\nin\n" << text;
    EXPECT_EQ(sink.count(), parts.size()) << text;
}

/// `text` with the first `from` replaced.
inline std::string with(std::string_view text, std::string_view from, std::string_view to) {
    std::string out(text);
    const auto at = out.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    if (at != std::string::npos) out.replace(at, from.size(), to);
    return out;
}

}  // namespace simverbs::scenarios::imports
