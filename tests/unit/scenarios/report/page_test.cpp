#include "scenarios/report/page.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "scenarios/report/html_table.hpp"
#include "scenarios/report/number_text.hpp"

namespace simverbs::scenarios::report {
namespace {

TEST(Page, MarkupInTextBecomesText) {
    EXPECT_EQ(escape_html("</p><a href=\"x\" id='y'>&"), "&lt;/p&gt;&lt;a href=&quot;x&quot; id=&#39;y&#39;&gt;&amp;");
}

TEST(Page, WhatIsNotUtf8BecomesTheReplacementCharacter) {
    const std::string replaced = "\xEF\xBF\xBD";
    EXPECT_EQ(escape_html("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"), "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
    EXPECT_EQ(escape_html("a\xFFz"), "a" + replaced + "z");
    EXPECT_EQ(escape_html("\xC0\xAF"), replaced + replaced);                 // overlong
    EXPECT_EQ(escape_html("\xED\xA0\x80"), replaced + replaced + replaced);  // surrogate
    EXPECT_EQ(escape_html("\xE2\x82"), replaced + replaced);                 // cut
    EXPECT_EQ(escape_html(std::string_view("a\0b\n\t", 5)), "a" + replaced + "b\n\t");
}

TEST(Page, DataCannotEndTheirElement) {
    const nlohmann::json data = {{"name", "</script><!--\xFF"}, {"bad", std::numeric_limits<double>::quiet_NaN()}};
    const std::string text = script_json(data);
    EXPECT_EQ(text.find('<'), std::string::npos);
    EXPECT_EQ(nlohmann::json::parse(text)["name"], "</script><!--\xEF\xBF\xBD");
    EXPECT_TRUE(nlohmann::json::parse(text)["bad"].is_null());
}

TEST(Page, MarksInPartsStayWhatTheyAre) {
    const std::string page = fill_page({.html_template = "@TITLE@|@STYLE@|@BODY@|@DATA@|@LIBRARY@|@SCRIPT@",
                                        .title = "<@BODY@>",
                                        .style = "@SCRIPT@",
                                        .body = "b",
                                        .data = "@DATA@",
                                        .library = "",
                                        .script = "s"});
    EXPECT_EQ(page, "&lt;@BODY@&gt;|@SCRIPT@|b|@DATA@||s");
}

TEST(Page, LongTextInTablesIsCutBetweenCharactersAndToldWhole) {
    std::string text;
    for (int i = 0; i < 200; ++i) text += "\xE2\x82\xAC";
    const std::string table = html_table("c", {{"h", ""}}, {{{text, ""}, {"1", "number"}}});
    EXPECT_NE(table.find("title=\"" + text + "\""), std::string::npos);
    EXPECT_EQ(table.find("\xEF\xBF\xBD"), std::string::npos);
    EXPECT_NE(table.find("<th scope=\"row\" class=\" long\""), std::string::npos);
    EXPECT_NE(table.find("<th scope=\"col\">h</th>"), std::string::npos);
}

TEST(Page, NumbersHaveThreeDigitsAndAUnit) {
    EXPECT_EQ(bytes_text(0), "0 B");
    EXPECT_EQ(bytes_text(1536), "1.54 KB");
    EXPECT_EQ(bytes_text(999'700), "1.00 MB");
    EXPECT_EQ(rate_text(39.44e9), "39.4 Gb/s");
    EXPECT_EQ(time_text(sim::SimTime::ns(12'345)), "12.3 us");
    EXPECT_EQ(time_text(sim::SimTime::max()), kNoNumber);
    EXPECT_EQ(count_text(1'234'567), "1,234,567");
    EXPECT_EQ(count_text(999), "999");
    EXPECT_EQ(share_text(0.1234), "12.3%");
    EXPECT_EQ(number_text(std::numeric_limits<double>::infinity()), kNoNumber);
    EXPECT_EQ(number_text(1.23e-5), "1.23e-05");
    EXPECT_EQ(number_text(0), "0");
}

}  // namespace
}  // namespace simverbs::scenarios::report
