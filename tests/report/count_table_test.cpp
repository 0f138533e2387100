// SPDX-License-Identifier: Apache-2.0

#include "convoy/report/count_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

namespace convoy {
namespace {

using testing::HasSubstr;

std::vector<std::string> names(const std::string& first, std::size_t count) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(first + std::to_string(i));
  return all;
}

TEST(CountTable, HasARowForEachWithItsSum) {
  EXPECT_EQ(count_table_text({.row_head = "worker",
                              .rows = {"0", "1"},
                              .columns = {"cat", "dog"},
                              .counts = {1200, 0, 30, 4}}),
            "worker    cat    dog  total\n"
            "     0  1,200      -  1,200\n"
            "     1     30      4     34\n");
}

TEST(CountTable, NumbersColumnsWhoseNamesAreTooWide) {
  const std::string text = count_table_text({.row_head = "worker",
                                             .rows = {"0"},
                                             .columns = names("a-long-name-", 10),
                                             .counts = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}});

  EXPECT_THAT(text, testing::StartsWith("worker   0   1   2   3"));
  EXPECT_THAT(text, HasSubstr("     0   1   2   3"));
  EXPECT_THAT(text, HasSubstr("\n0 a-long-name-0, 1 a-long-name-1, "));
}

TEST(CountTable, ListsWhatARowHasWhereColumnsAreTooMany) {
  std::vector<std::uint64_t> counts(2 * 100);
  counts[7] = 500, counts[42] = 1000;
  for (std::size_t i = 100; i < 200; ++i) counts[i] = 3;
  const std::string text = count_table_text({.row_head = "worker",
                                             .rows = {"0", "1"},
                                             .columns = names("c", 100),
                                             .counts = counts});

  EXPECT_THAT(text, HasSubstr("     0  1,500  7 (500), 42 (1,000)\n"));
  EXPECT_THAT(
      text, testing::ContainsRegex("     1    300  0 .3., 1 .3., .* and [0-9]+ more\n"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u);
}

TEST(CountTable, ShowsNoControlCharacters) {
  const std::string text = count_table_text(
      {.row_head = "worker", .rows = {"\x1b[2J"}, .columns = {"a\nb"}, .counts = {1}});

  EXPECT_THAT(text, testing::Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, HasSubstr("a?b"));
}

}  // namespace
}  // namespace convoy
