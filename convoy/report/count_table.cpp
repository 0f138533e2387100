// SPDX-License-Identifier: Apache-2.0

#include "convoy/report/count_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/report/classification.h"
#include "convoy/report/text_width.h"

namespace convoy {
namespace {

using Names = std::vector<std::string>;

std::string padded(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, display_width(text)), ' ') + text;
}

std::span<const std::uint64_t> row_of(const CountTable& table, std::size_t row) {
  return std::span(table.counts)
      .subspan(row * table.columns.size(), table.columns.size());
}

/// Returns the sums of rows, with commas.
Names sums(const CountTable& table) {
  Names texts;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    const auto counts = row_of(table, row);
    texts.push_back(
        with_commas(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0})));
  }
  return texts;
}

/// The widths of the column of row names, of a cell and of the column of sums.
struct Widths {
  std::size_t side, cell, sum;
};

Widths widths_of(const CountTable& table, const Names& heads, const Names& row_sums) {
  const std::uint64_t most = table.counts.empty() ? 0 : std::ranges::max(table.counts);
  return {.side = std::max(display_width(table.row_head), widest(table.rows)),
          .cell = 2 + std::max(widest(heads), with_commas(most).size()),
          .sum = 2 + std::max(std::string_view("total").size(), widest(row_sums))};
}

/// Empty if the table would be too wide.
std::string grid_text(const CountTable& table, const Names& heads,
                      const Names& row_sums) {
  const auto [side, cell, sum] = widths_of(table, heads, row_sums);
  if (side + cell * heads.size() + sum > kTableColumns) return "";
  std::string text = padded(table.row_head, side);
  for (const std::string& head : heads) text += padded(head, cell);
  text += padded("total", sum) + "\n";
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    text += padded(table.rows[row], side);
    for (const std::uint64_t count : row_of(table, row)) {
      text += padded(count == 0 ? "-" : with_commas(count), cell);
    }
    text += padded(row_sums[row], sum) + "\n";
  }
  return text;
}

/// Makes a table whose columns are headed by numbers, and a legend.
std::string numbered_grid_text(const CountTable& table, const Names& row_sums) {
  Names heads;
  std::string explained;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    heads.push_back(std::to_string(i));
    explained += fmt::format("{}{} {}", i == 0 ? "" : ", ", i, table.columns[i]);
  }
  const std::string grid = grid_text(table, heads, row_sums);
  return grid.empty() ? "" : grid + explained + "\n";
}

/// Formats as "3 (500), 17 (500), 21 (480), and 7 more", at most one line long.
std::string holdings(std::span<const std::uint64_t> counts, std::size_t width) {
  constexpr std::size_t kRoomForMore = 16;
  std::string text;
  std::size_t left = static_cast<std::size_t>(
      std::ranges::count_if(counts, [](std::uint64_t count) { return count > 0; }));
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    const std::string next =
        fmt::format("{}{} ({})", text.empty() ? "" : ", ", i, with_commas(counts[i]));
    if (text.size() + next.size() + kRoomForMore > width) break;
    text += next;
    --left;
  }
  return left == 0 ? text : fmt::format("{}, and {} more", text, with_commas(left));
}

std::string list_text(const CountTable& table, const Names& row_sums) {
  const auto [side, cell, sum] = widths_of(table, {}, row_sums);
  std::string text = padded(table.row_head, side) + padded("total", sum) + "  of\n";
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    text += padded(table.rows[row], side) + padded(row_sums[row], sum) + "  " +
            holdings(row_of(table, row),
                     kTableColumns - std::min(side + sum + 2, kTableColumns)) +
            "\n";
  }
  return text;
}

}  // namespace

std::string count_table_text(const CountTable& given) {
  check(given.counts.size() == given.rows.size() * given.columns.size(),
        "a table has a count for each cell");
  CountTable table = given;
  for (std::string& name : table.rows) name = displayable(name);
  for (std::string& name : table.columns) name = displayable(name);
  const Names row_sums = sums(table);
  for (const std::string& text :
       {grid_text(table, table.columns, row_sums), numbered_grid_text(table, row_sums)}) {
    if (!text.empty()) return text;
  }
  return list_text(table, row_sums);
}

}  // namespace convoy
