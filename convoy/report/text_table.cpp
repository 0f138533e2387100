// SPDX-License-Identifier: Apache-2.0

#include "convoy/report/text_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "convoy/base/error.h"
#include "convoy/report/classification.h"
#include "convoy/report/text_width.h"

namespace convoy {
namespace {

constexpr std::string_view kGap = "  ";

std::size_t width_of(const TextColumn& column) {
  return std::max(display_width(column.head), widest(column.cells));
}

std::string aligned(const std::string& text, const TextColumn& column) {
  const std::string blanks(width_of(column) - display_width(text), ' ');
  return column.left ? text + blanks : blanks + text;
}

/// Without blanks at its end.
std::string line_of(const std::vector<const TextColumn*>& columns,
                    const std::string& (*text)(const TextColumn&, std::size_t),
                    std::size_t row) {
  std::string line;
  for (const TextColumn* column : columns) {
    if (column != columns.front()) line += kGap;
    line += aligned(text(*column, row), *column);
  }
  return line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
}

std::string block_of(const std::vector<const TextColumn*>& columns) {
  std::string text = line_of(
      columns,
      [](const TextColumn& column, std::size_t) -> const std::string& {
        return column.head;
      },
      0);
  for (std::size_t row = 0; row < columns.front()->cells.size(); ++row) {
    text += line_of(
        columns,
        [](const TextColumn& column, std::size_t at) -> const std::string& {
          return column.cells[at];
        },
        row);
  }
  return text;
}

TextColumn shown(const TextColumn& column) {
  TextColumn copy = column;
  copy.head = displayable(column.head);
  for (std::string& cell : copy.cells) cell = displayable(cell);
  return copy;
}

/// Keeps the end of a long name, which tells runs of one folder apart.
void cut_names(TextColumn& column, std::size_t width) {
  for (std::string& cell : column.cells) {
    const std::size_t length = display_width(cell);
    if (length <= width) continue;
    std::size_t from = 0;
    for (std::size_t left_out = 0; left_out < length - width + 1; ++left_out) {
      do ++from;
      while (from < cell.size() && (cell[from] & 0xC0) == 0x80);
    }
    cell = "…" + cell.substr(from);
  }
}

std::vector<TextColumn> shown(const std::vector<TextColumn>& columns) {
  std::vector<TextColumn> copies;
  for (const TextColumn& column : columns) {
    check(column.cells.size() == columns.front().cells.size(),
          "all columns of a table have as many cells");
    copies.push_back(shown(column));
  }
  return copies;
}

std::string escaped(const std::string& cell) {
  std::string text;
  for (const char c : cell) text += c == '|' ? "\\|" : std::string(1, c);
  return text;
}

std::string markdown_line(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) line += " " + escaped(cell) + " |";
  return line + "\n";
}

}  // namespace

std::string text_table(const std::vector<TextColumn>& given, std::size_t width) {
  if (given.empty()) return "";
  std::vector<TextColumn> columns = shown(given);
  cut_names(columns.front(), std::max<std::size_t>(width / 2, 8));
  const std::size_t side = width_of(columns.front());
  std::string text;
  std::vector<const TextColumn*> block = {&columns.front()};
  std::size_t used = side;
  for (const TextColumn& column : std::span(columns).subspan(1)) {
    const std::size_t more = kGap.size() + width_of(column);
    if (used + more > width && block.size() > 1) {
      text += block_of(block) + "\n";
      block = {&columns.front()};
      used = side;
    }
    block.push_back(&column);
    used += more;
  }
  return text + block_of(block);
}

std::string markdown_table(const std::vector<TextColumn>& given) {
  if (given.empty()) return "";
  const std::vector<TextColumn> columns = shown(given);
  std::vector<std::string> heads, rule;
  for (const TextColumn& column : columns) {
    heads.push_back(column.head);
    rule.emplace_back(column.left ? "---" : "---:");
  }
  std::string text = markdown_line(heads) + markdown_line(rule);
  for (std::size_t row = 0; row < columns.front().cells.size(); ++row) {
    std::vector<std::string> cells;
    for (const TextColumn& column : columns) cells.push_back(column.cells[row]);
    text += markdown_line(cells);
  }
  return text;
}

}  // namespace convoy
