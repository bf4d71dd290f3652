// What the YAML parser's terse messages mean, in words that say what to do.
#pragma once

#include <string>

namespace simverbs::scenarios {

/// A sentence for the parser's message, or the message itself if the table has no row for it.
[[nodiscard]] std::string plain_yaml_message(const std::string& parser_message);

}  // namespace simverbs::scenarios
