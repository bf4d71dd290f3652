#include "scenarios/report/page.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "sim/check.hpp"

namespace simverbs::scenarios::report {

namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

/// Bytes of the UTF-8 character at the start of `text`; 0: there is none. RFC 3629, section 4.
size_t utf8_length(std::string_view text) {
    const auto at = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
    const auto continues = [&](size_t i) { return (at(i) & 0xC0U) == 0x80U; };
    const unsigned first = at(0);
    if (first < 0x80) return 1;
    if (first >= 0xC2 && first <= 0xDF) return continues(1) ? 2 : 0;
    if (first >= 0xE0 && first <= 0xEF) {
        const bool overlong = first == 0xE0 && at(1) < 0xA0;
        const bool surrogate = first == 0xED && at(1) >= 0xA0;
        return !overlong && !surrogate && continues(1) && continues(2) ? 3 : 0;
    }
    if (first >= 0xF0 && first <= 0xF4) {
        const bool overlong = first == 0xF0 && at(1) < 0x90;
        const bool too_far = first == 0xF4 && at(1) >= 0x90;
        return !overlong && !too_far && continues(1) && continues(2) && continues(3) ? 4 : 0;
    }
    return 0;
}

void append_escaped(std::string& out, std::string_view character) {
    const char c = character[0];
    switch (c) {
        case '&':
            out += "&amp;";
            return;
        case '<':
            out += "&lt;";
            return;
        case '>':
            out += "&gt;";
            return;
        case '"':
            out += "&quot;";
            return;
        case '\'':
            out += "&#39;";
            return;
        default:
            break;
    }
    const bool is_control = character.size() == 1 && (static_cast<unsigned char>(c) < 0x20 || c == 0x7F);
    out += is_control && c != '\n' && c != '\t' ? kReplacement : character;
}

}  // namespace

std::string escape_html(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const size_t length = utf8_length(text);
        if (length == 0) {
            out += kReplacement;
        } else {
            append_escaped(out, text.substr(0, length));
        }
        text.remove_prefix(std::max<size_t>(length, 1));
    }
    return out;
}

std::string script_json(const nlohmann::json& data) {
    const std::string plain = data.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    std::string out;
    out.reserve(plain.size());
    // "<" stands in strings only. "</script" and "<!--" would end the element, or begin another state of the parser.
    for (const char c : plain) {
        if (c == '<') {
            out += "\\u003c";
        } else {
            out += c;
        }
    }
    return out;
}

std::string fill_page(const PageParts& parts) {
    const std::string title = escape_html(parts.title);
    const std::array<std::pair<std::string_view, std::string_view>, 6> marks{{{"@TITLE@", title},
                                                                              {"@STYLE@", parts.style},
                                                                              {"@BODY@", parts.body},
                                                                              {"@DATA@", parts.data},
                                                                              {"@LIBRARY@", parts.library},
                                                                              {"@SCRIPT@", parts.script}}};
    std::string out;
    std::string_view rest = parts.html_template;
    // In the order of the template, so that no part is searched for marks.
    for (const auto& [mark, text] : marks) {
        const size_t at = rest.find(mark);
        SIM_CHECK(at != std::string_view::npos);
        out.append(rest.substr(0, at)).append(text);
        rest.remove_prefix(at + mark.size());
    }
    return out.append(rest);
}

}  // namespace simverbs::scenarios::report
