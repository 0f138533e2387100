// SPDX-License-Identifier: Apache-2.0
//
// A table of counts as coloured cells.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "convoy/base/error.h"
#include "convoy/plot/gnuplot_text.h"
#include "convoy/plot/picture.h"

namespace convoy {
namespace {

constexpr std::size_t kMostCellsWithCounts = 30, kMostImageCells = 30'000;
constexpr double kMostPixels = 8000;  // of a side
constexpr double kMostCellName = 170, kMostHead = 900, kScaleWidth = 120;
// Relative width of a text that is rotated by 45 degrees.
constexpr double kLeaning = 0.71;

double longest_name(const std::vector<std::string>& names, double font) {
  double longest = 0;
  for (const std::string& name : names) {
    longest = std::max(longest, std::min(kMostCellName, text_pixels(name, font)));
  }
  return longest;
}

/// By the number of cells of the longer side.
double cell_size(std::size_t cells) {
  if (cells <= 12) return 46;
  if (cells <= kMostCellsWithCounts) return 34;
  return std::clamp(std::floor(1500.0 / static_cast<double>(cells)), 1.0, 12.0);
}

/// The positions of all parts, in pixels.
struct TableLayout {
  explicit TableLayout(const HeatMap& map)
      : cells(std::max(map.rows.size(), map.columns.size())),
        crowded(cells > kMostCellsWithCounts),
        cell(cell_size(cells)),
        font(crowded ? 9 : kFont),
        named(cell >= font),
        row_name(named ? longest_name(map.rows, font)
                       : text_pixels(std::to_string(cells), kFont)),
        column_name(named ? longest_name(map.columns, font) : kFont) {
    // A rotated name extends upwards, and beyond the last column.
    const double rise = column_name * (crowded ? 1 : kLeaning);
    table = {.left = std::ceil(52 + row_name),
             .top = std::ceil(head_height(map.head) + rise + 12),
             .width = std::min(kMostPixels, side_of(map.columns.size())),
             .height = std::min(kMostPixels, side_of(map.rows.size()))};
    const double right = std::max(kScaleWidth, crowded ? 0 : rise + 16);
    const double head = std::max(text_pixels(map.head.title, kTitleFont),
                                 text_pixels(map.head.note, kFont));
    size = {.width = std::max({table.left + table.width + right, 420.0,
                               48 + std::min(kMostHead, head)}),
            .height = table.top + std::max(table.height, 90.0) + 44};
  }

  double side_of(std::size_t count) const {
    return static_cast<double>(std::max<std::size_t>(1, count)) * cell;
  }

  std::size_t cells;
  bool crowded;  // cells are too small for counts
  double cell, font;
  bool named;
  double row_name, column_name;
  Frame table;
  Picture size;
};

std::span<const std::uint64_t> row_of(const HeatMap& map, std::size_t row) {
  return std::span(map.counts).subspan(row * map.columns.size(), map.columns.size());
}

/// The shares of a row's cells. Their square roots are colours: the errors of a good
/// classifier, a few percent, would be white on a linear scale.
std::vector<double> shares_of(std::span<const std::uint64_t> counts) {
  const auto sum = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  std::vector<double> shares;
  for (const std::uint64_t count : counts) {
    shares.push_back(static_cast<double>(count) /
                     static_cast<double>(std::max<std::uint64_t>(sum, 1)));
  }
  return shares;
}

std::string colour_rows(const HeatMap& map) {
  std::string rows;
  for (std::size_t row = 0; row < map.rows.size(); ++row) {
    for (const double share : shares_of(row_of(map, row))) {
      rows += fmt::format("{:.4f} ", std::sqrt(share));
    }
    rows += "\n";
  }
  return rows;
}

/// Column, row, count and the colour of its digits.
std::string count_rows(const HeatMap& map) {
  std::string rows;
  for (std::size_t row = 0; row < map.rows.size(); ++row) {
    const auto counts = row_of(map, row);
    const std::vector<double> shares = shares_of(counts);
    for (std::size_t column = 0; column < counts.size(); ++column) {
      const int colour = counts[column] == 0    ? 0xBBBBBB
                         : shares[column] > 0.4 ? 0xFFFFFF
                                                : 0x222222;
      rows += fmt::format("{} {} {} {}\n", column, row, counts[column], colour);
    }
  }
  return rows;
}

std::string ticks_of(const std::vector<std::string>& names, double font) {
  std::string ticks;
  for (std::size_t i = 0; i < names.size(); ++i) {
    ticks += fmt::format("{}{} {}", i == 0 ? "" : ", ",
                         gnuplot_tick(shortened(names[i], kMostCellName, font)), i);
  }
  return ticks;
}

/// Numbers of rows and columns, about ten of each, where there is no room for names.
std::string number_commands(const HeatMap& map) {
  const auto step = [](std::size_t count) {
    const double tenth = static_cast<double>(count) / 10;
    const double power = std::pow(10, std::floor(std::log10(tenth)));
    const double digit = tenth / power;
    return std::max(1.0, power * (digit < 2 ? 1 : digit < 5 ? 2 : 5));
  };
  return fmt::format(
      "set x2tics scale 0.5 format '%.0f' textcolor rgb '{}' 0,{}\n"
      "set ytics scale 0.5 format '%.0f' textcolor rgb '{}' 0,{}\n",
      kInk, step(map.columns.size()), kInk, step(map.rows.size()));
}

std::string name_commands(const HeatMap& map, const TableLayout& layout) {
  std::string commands = "unset xtics\nunset ytics\nunset x2tics\n";
  if (map.rows.empty() || map.columns.empty()) return commands;
  if (!layout.named) return commands + number_commands(map);
  const std::string style =
      fmt::format("font \",{}\" textcolor rgb '{}'", layout.font, kInk);
  return commands +
         fmt::format("set x2tics scale 0 rotate by {} left noenhanced {} ({})\n",
                     layout.crowded ? 90 : 45, style,
                     ticks_of(map.columns, layout.font)) +
         fmt::format("set ytics scale 0 noenhanced {} ({})\n", style,
                     ticks_of(map.rows, layout.font));
}

/// What rows and columns are, beside and below the table.
std::string side_commands(const HeatMap& map, const TableLayout& layout) {
  const auto& [left, top, width, height] = layout.table;
  return side_label(map.column_axis, left + width / 2, top + height + 20, false,
                    layout.size) +
         side_label(map.row_axis, 20, top + height / 2, true, layout.size);
}

std::string scale_commands(const TableLayout& layout) {
  const auto& [left, top, width, height] = layout.table;
  const double length = std::clamp(height, 60.0, 240.0);
  return std::string(kBluePalette) +
         fmt::format(
             "set cbrange [0:1]\nset cbtics scale 0.5 ('0 %%' 0, '10 %%' "
             "0.3162, '50 %%' 0.7071, '100 %%' 1) textcolor rgb '{}'\n"
             "set colorbox user origin {},{} size {},{}\n",
             kInk, (left + width + 24) / layout.size.width,
             1 - (top + length) / layout.size.height, 14 / layout.size.width,
             length / layout.size.height) +
         fmt::format(
             "set label 'of the row' at screen {},screen {} left font \",9\" "
             "textcolor rgb '{}'\n",
             (left + width + 24) / layout.size.width,
             1 - (top + length + 16) / layout.size.height, kGrey);
}

/// The font in which the longest count fits into a cell.
double count_font(const HeatMap& map, const TableLayout& layout) {
  const std::uint64_t most = map.counts.empty() ? 0 : std::ranges::max(map.counts);
  const double wide = text_pixels(std::to_string(most), layout.font);
  return layout.font * std::min(1.0, 0.92 * layout.cell / wide);
}

std::string table_commands(const HeatMap& map, const TableLayout& layout) {
  if (map.counts.empty()) return "plot NaN notitle\n";
  std::string commands = data_block("shares", colour_rows(map));
  std::string plot = "plot $shares matrix using 1:2:3 with image";
  // Cells are rectangles where they are large, or too many for an image in cairo.
  if (layout.cell > 2 || layout.cells > kMostImageCells) plot += " pixels";
  if (!layout.crowded) {
    commands += data_block("counts", count_rows(map));
    plot += fmt::format(
        ", $counts using 1:2:(strcol(3)):4 with labels font \",{:.1f}\" "
        "textcolor rgb variable",
        count_font(map, layout));
  }
  return commands + plot + "\n";
}

}  // namespace

Picture picture_of(const HeatMap& map) {
  check(map.counts.size() == map.rows.size() * map.columns.size(),
        "a heat map has a count for each cell");
  const TableLayout layout(map);
  const double last_column = std::max(1.0, static_cast<double>(map.columns.size())) - 0.5;
  const double last_row = std::max(1.0, static_cast<double>(map.rows.size())) - 0.5;
  Picture picture = layout.size;
  picture.commands =
      head_commands(map.head, picture, 24) + frame_commands(layout.table, picture) +
      fmt::format(
          "unset key\nset border 15 linecolor rgb '{}'\nset xrange [-0.5:{}]\n"
          "set x2range [-0.5:{}]\nset yrange [{}:-0.5]\n",
          kPale, last_column, last_column, last_row) +
      name_commands(map, layout) + side_commands(map, layout) + scale_commands(layout) +
      table_commands(map, layout);
  return picture;
}

}  // namespace convoy
