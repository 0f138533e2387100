// SPDX-License-Identifier: Apache-2.0
//
// A table of counts as text, such as samples of each label per worker.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace convoy {

struct CountTable {
  std::string row_head;               // what rows are: "worker"
  std::vector<std::string> rows;      // their names
  std::vector<std::string> columns;   // names of what is counted
  std::vector<std::uint64_t> counts;  // [row][column]
};

/// A line for each row, with its counts and their sum. Where that would be more than 100
/// columns wide, columns are headed by numbers, which are explained below; where it still
/// is, a line lists what its row has.
std::string count_table_text(const CountTable& table);

}  // namespace convoy
