// SPDX-License-Identifier: Apache-2.0

#include "convoy/report/heat_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "convoy/base/error.h"
#include "convoy/report/canvas.h"
#include "convoy/report/classification.h"

namespace convoy {
namespace {

constexpr std::size_t kMostCellsWithCounts = 30;
constexpr double kMostPixels = 16000;  // per side; a cairo picture has fewer than 32768
// Relative width of a text that is rotated by 45 degrees.
constexpr double kLeaning = 0.71;
constexpr double kLegendWidth = 110;

/// White to dark blue, in perceptually even steps, each darker than the last.
constexpr std::array<Colour, 6> kScale = {{{1.0, 1.0, 1.0},
                                           {0.871, 0.922, 0.969},
                                           {0.620, 0.792, 0.882},
                                           {0.259, 0.573, 0.776},
                                           {0.031, 0.318, 0.612},
                                           {0.031, 0.188, 0.420}}};

/// Uses the square root of the share: the errors of a good classifier, a few percent,
/// would be white on a linear scale.
Colour colour_of(double share) {
  const double place = std::sqrt(std::clamp(share, 0.0, 1.0)) * (kScale.size() - 1);
  const auto step = std::min(static_cast<std::size_t>(place), kScale.size() - 2);
  const double t = place - static_cast<double>(step);
  const Colour &a = kScale[step], &b = kScale[step + 1];
  return {std::lerp(a.red, b.red, t), std::lerp(a.green, b.green, t),
          std::lerp(a.blue, b.blue, t)};
}

/// Truncates to 24 characters.
std::string label_of(const std::string& name) {
  const std::string text = displayable(name);
  const std::string cut = fmt::format("{:.24}", text);
  return cut.size() < text.size() ? cut + "…" : cut;
}

double longest_label(const std::vector<std::string>& names, double font) {
  double longest = 0;
  for (const std::string& name : names) {
    longest = std::max(longest, text_width(label_of(name), {.size = font}));
  }
  return longest;
}

/// By the number of cells of the longer side.
double cell_size(std::size_t cells) {
  if (cells <= 12) return 52;
  if (cells <= kMostCellsWithCounts) return 36;
  return std::clamp(std::floor(1500.0 / static_cast<double>(cells)), 1.0, 12.0);
}

/// The positions of all parts, in pixels.
struct Frame {
  explicit Frame(const HeatMap& map)
      : crowded(std::max(map.rows.size(), map.columns.size()) > kMostCellsWithCounts),
        cell(cell_size(std::max(map.rows.size(), map.columns.size()))),
        font(crowded ? 10 : 13),
        named(cell >= font),
        row_label(named ? longest_label(map.rows, font) : 0),
        column_label(named ? longest_label(map.columns, font) : 0),
        lean(crowded ? 90 : 45),
        left(std::ceil(56 + row_label)),
        // A rotated name extends upwards, and beyond the last column, by kLeaning times
        // its width.
        top(std::ceil(84 + column_label * (crowded ? 1 : kLeaning))),
        table_width(side_of(map.columns.size())),
        table_height(side_of(map.rows.size())),
        width(std::min(kMostPixels,
                       std::max({left + table_width +
                                     std::max(kLegendWidth, column_label * kLeaning + 16),
                                 48 + text_width(map.title, {.size = 18, .bold = true}),
                                 48 + text_width(map.note, {}), 420.0}))),
        height(std::min(kMostPixels, top + std::max(table_height, 84.0) + 40)) {}

  double side_of(std::size_t cells) const {
    return static_cast<double>(std::max<std::size_t>(1, cells)) * cell;
  }
  /// Returns the middle of a cell, relative to the table's edge.
  double middle_of(std::size_t index) const {
    return (static_cast<double>(index) + 0.5) * cell;
  }
  Box box_of(std::size_t row, std::size_t column) const {
    return {left + static_cast<double>(column) * cell,
            top + static_cast<double>(row) * cell, cell, cell};
  }

  bool crowded;  // cells are too small for counts
  double cell, font;
  bool named;
  double row_label, column_label, lean, left, top, table_width, table_height, width,
      height;
};

void draw_head(Canvas& canvas, const HeatMap& map) {
  canvas.text(24, 34, map.title, {.size = 18, .bold = true});
  canvas.text(24, 56, map.note, {.colour = kGrey});
}

void draw_names(Canvas& canvas, const Frame& frame, const HeatMap& map) {
  for (std::size_t row = 0; row < map.rows.size(); ++row) {
    canvas.text(frame.left - 8, frame.top + frame.middle_of(row) + 0.35 * frame.font,
                label_of(map.rows[row]), {.size = frame.font, .anchor = 1});
  }
  for (std::size_t column = 0; column < map.columns.size(); ++column) {
    canvas.text(frame.left + frame.middle_of(column) + 0.3 * frame.font, frame.top - 8,
                label_of(map.columns[column]),
                {.size = frame.font, .degrees = frame.lean});
  }
}

void draw_axes(Canvas& canvas, const Frame& frame, const HeatMap& map) {
  canvas.text(frame.left + frame.table_width / 2, frame.top + frame.table_height + 24,
              map.column_axis, {.colour = kGrey, .anchor = 0.5});
  canvas.text(26, frame.top + frame.table_height / 2, map.row_axis,
              {.colour = kGrey, .anchor = 0.5, .degrees = 90});
}

void draw_count(Canvas& canvas, const Frame& frame, const Box& box, std::uint64_t count,
                double share) {
  const std::string text = std::to_string(count);
  TextStyle style{.size = frame.font,
                  .colour = count == 0    ? kPale
                            : share > 0.4 ? kWhite
                                          : kDark,
                  .anchor = 0.5};
  style.size *= std::min(1.0, 0.9 * frame.cell / text_width(text, style));
  canvas.text(box.x + box.width / 2, box.y + box.height / 2 + 0.35 * style.size, text,
              style);
}

void draw_row(Canvas& canvas, const Frame& frame, const HeatMap& map, std::size_t row) {
  const auto counts =
      std::span(map.counts).subspan(row * map.columns.size(), map.columns.size());
  std::uint64_t sum = 0;
  for (const std::uint64_t count : counts) sum += count;
  for (std::size_t column = 0; column < counts.size(); ++column) {
    const std::uint64_t count = counts[column];
    const double share =
        static_cast<double>(count) / static_cast<double>(std::max<std::uint64_t>(sum, 1));
    const Box box = frame.box_of(row, column);
    if (count > 0) canvas.fill(box, colour_of(share));
    if (!frame.crowded) draw_count(canvas, frame, box, count, share);
  }
}

/// Draws the colour scale, on the right.
void draw_legend(Canvas& canvas, const Frame& frame) {
  const double height = std::clamp(std::floor(frame.table_height), 60.0, 240.0);
  const double x =
      std::min(frame.left + frame.table_width, frame.width - kLegendWidth) + 28;
  for (double y = 0; y < height; ++y) {
    canvas.fill({x, frame.top + y, 14, 1}, colour_of(1 - y / height));
  }
  canvas.frame({x, frame.top, 14, height}, kPale);
  for (const int percent : {0, 50, 100}) {
    canvas.text(x + 20, frame.top + height * (1 - percent / 100.0) + 4,
                fmt::format("{} %", percent), {.size = 11});
  }
  canvas.text(x, frame.top + height + 20, "of the row", {.size = 11, .colour = kGrey});
}

}  // namespace

std::string heat_map_png(const HeatMap& given) {
  check(given.counts.size() == given.rows.size() * given.columns.size(),
        "a heat map has a count for each cell");
  HeatMap map = given;
  for (std::string* text : {&map.title, &map.note, &map.row_axis, &map.column_axis}) {
    *text = displayable(*text);
  }
  const Frame frame(map);
  Canvas canvas(static_cast<int>(frame.width), static_cast<int>(frame.height));
  draw_head(canvas, map);
  if (frame.named) draw_names(canvas, frame, map);
  draw_axes(canvas, frame, map);
  for (std::size_t row = 0; row < map.rows.size(); ++row) {
    draw_row(canvas, frame, map, row);
  }
  canvas.frame({frame.left, frame.top, frame.table_width, frame.table_height}, kPale);
  draw_legend(canvas, frame);
  return canvas.png();
}

}  // namespace convoy
