#include "scenarios/compare/csv_records.hpp"

#include <gtest/gtest.h>

#include "scenarios/output/csv.hpp"

namespace simverbs::scenarios::compare {
namespace {

using Fields = std::vector<std::string>;

TEST(CsvRecords, WhatCsvFieldWritesReadsBackTheSame) {
    const Fields written{"plain", "", "a,b", "say \"x\"", "two\nlines", "\"", ","};
    std::string text;
    for (const std::string& field : written) text += (text.empty() ? "" : ",") + output::csv_field(field);
    CsvRecords records(text);
    Fields read;
    ASSERT_TRUE(records.next(read));
    EXPECT_EQ(read, written);
    EXPECT_FALSE(records.next(read));
}

TEST(CsvRecords, LinesCountThoseWithinFields) {
    CsvRecords records("a,b\n\"1\n2\",3\n4,\n");
    Fields read;
    ASSERT_TRUE(records.next(read));
    EXPECT_EQ(records.line(), 1);
    ASSERT_TRUE(records.next(read));
    EXPECT_EQ(read, (Fields{"1\n2", "3"}));
    EXPECT_EQ(records.line(), 2);
    ASSERT_TRUE(records.next(read));
    EXPECT_EQ(read, (Fields{"4", ""}));
    EXPECT_EQ(records.line(), 4);
    EXPECT_FALSE(records.next(read));
}

TEST(CsvRecords, ATextThatEndsWithinQuotesEnds) {
    CsvRecords records("\"open");
    Fields read;
    ASSERT_TRUE(records.next(read));
    EXPECT_EQ(read, Fields{"open"});
    EXPECT_FALSE(records.next(read));
}

TEST(CsvRecords, ColumnsAreFoundByNameAndMissingOnesNamed) {
    Fields missing;
    EXPECT_EQ(columns_named({"x", "y", "z"}, {"z", "x"}, missing), (std::vector<std::size_t>{2, 0}));
    EXPECT_TRUE(missing.empty());
    (void)columns_named({"x"}, {"x", "w"}, missing);
    EXPECT_EQ(missing, Fields{"w"});
}

}  // namespace
}  // namespace simverbs::scenarios::compare
