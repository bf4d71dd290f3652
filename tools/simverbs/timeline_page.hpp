// The page that --timeline asks for.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "scenarios/lang/lab_spec.hpp"
#include "tools/simverbs/lab_session.hpp"

namespace simverbs::tools {

/// Before anything runs: throws UserError if this build makes no pages, or the file cannot be written.
void check_timeline(const LabRequest& request);

/// Writes the page, if one is wanted. `programs`: "h0" → its command. Throws std::runtime_error if that fails.
void write_timeline(const LabRequest& request, const scenarios::LabSpec& spec, LabSession& session,
                    const std::vector<std::pair<std::string, std::string>>& programs);

/// The page's text.
[[nodiscard]] std::string timeline_text(const scenarios::LabSpec& spec, LabSession& session,
                                        const std::vector<std::pair<std::string, std::string>>& programs,
                                        const std::string& how_to_keep_more);

}  // namespace simverbs::tools
