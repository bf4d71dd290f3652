#include "scenarios/lang/yaml_messages.hpp"

#include <yaml-cpp/exceptions.h>

#include <array>
#include <string_view>

namespace simverbs::scenarios {

namespace {

struct MessageRow {
    std::string_view parser_message;
    std::string_view plain;
};

using namespace YAML::ErrorMsg;

const std::array<MessageRow, 15> kMessages{{
    {END_OF_SEQ_FLOW, "a list that was opened with '[' is not closed before this"},
    {END_OF_MAP_FLOW, "a map that was opened with '{' is not closed before this"},
    {END_OF_SEQ, "a list entry does not begin with '- ' in the column of the others"},
    {END_OF_MAP, "a key does not stand in the column of the keys before it"},
    {FLOW_END, "a ']' or '}' closes nothing"},
    {BLOCK_ENTRY, "a list entry ('- ') cannot stand here"},
    {MAP_KEY, "a key cannot stand here"},
    {MAP_VALUE, "a second ':' in this entry, or wrong indentation"},
    {UNKNOWN_TOKEN, "a value cannot begin with this character (put it in quotes)"},
    {UNKNOWN_ANCHOR, "the alias refers to an anchor that does not exist before it"},
    {TAB_IN_INDENTATION, "a tab indents this line (use spaces)"},
    {EOF_IN_SCALAR, "the file ends inside a quoted text"},
    {DOC_IN_SCALAR, "a document marker stands inside a quoted text"},
    {MULTIPLE_ANCHORS, "two anchors for one value"},
    {MULTIPLE_TAGS, "two tags for one value"},
}};

}  // namespace

std::string plain_yaml_message(const std::string& parser_message) {
    for (const MessageRow& row : kMessages) {
        if (row.parser_message == parser_message) return std::string(row.plain);
    }
    return parser_message;
}

}  // namespace simverbs::scenarios
