// SPDX-License-Identifier: Apache-2.0

#include "convoy/report/text_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace convoy {
namespace {

const std::vector<TextColumn> kTable = {
    {.head = "run", .cells = {"a", "long name"}, .left = true},
    {.head = "loss", .cells = {"0.25", "12.5"}},
    {.head = "state", .cells = {"ok", "-"}, .left = true}};

TEST(TextTable, AlignsItsColumns) {
  EXPECT_EQ(text_table(kTable, 80),
            "run        loss  state\n"
            "a          0.25  ok\n"
            "long name  12.5  -\n");
}

TEST(TextTable, ContinuesBelowWhereItIsTooWide) {
  EXPECT_EQ(text_table(kTable, 18),
            "run        loss\n"
            "a          0.25\n"
            "long name  12.5\n"
            "\n"
            "run        state\n"
            "a          ok\n"
            "long name  -\n");
}

TEST(TextTable, CutsNamesAtTheirBeginning) {
  const std::string text = text_table(
      {{.head = "run", .cells = {std::string(50, 'é') + "end"}, .left = true}}, 20);

  EXPECT_EQ(text, "run\n…ééééééend\n");
}

TEST(TextTable, HasNoControlCharactersOrNewlinesInACell) {
  EXPECT_EQ(text_table({{.head = "run", .cells = {"\x1b[31m\n\xFF"}, .left = true}}, 40),
            "run\n?[31m??\n");
}

TEST(TextTable, IsMarkdown) {
  EXPECT_EQ(markdown_table({{.head = "run", .cells = {"a|b"}, .left = true},
                            {.head = "loss", .cells = {"1"}}}),
            "| run | loss |\n| --- | ---: |\n| a\\|b | 1 |\n");
  EXPECT_EQ(markdown_table({}), "");
}

}  // namespace
}  // namespace convoy
