#include "scenarios/output/csv.hpp"

#include <fmt/format.h>

namespace simverbs::scenarios::output {

std::string csv_field(std::string_view text) {
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"') out += '"';
        out += c;
    }
    return out + '"';
}

std::string csv_time(sim::SimTime time) {
    return time == sim::SimTime::max() ? "" : fmt::format("{}", time.in_ps());
}

}  // namespace simverbs::scenarios::output
