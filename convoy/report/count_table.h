// SPDX-License-Identifier: Apache-2.0
//
// Formats a table of counts as text, such as samples per label and worker.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace convoy {

struct CountTable {
  std::string row_head;               // what a row is: "worker"
  std::vector<std::string> rows;      // names of the rows
  std::vector<std::string> columns;   // names of the columns
  std::vector<std::uint64_t> counts;  // [row][column]
};

/// One line per row, with its counts and their sum. If that is more than 100 columns
/// wide, columns are headed by numbers with a legend below; if it is still too wide, each
/// line lists the non-zero counts of its row.
std::string count_table_text(const CountTable& table);

}  // namespace convoy
