// SPDX-License-Identifier: Apache-2.0
//
// One chart of each kind, with a given text wherever there is one.

#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "convoy/plot/plot.h"

namespace convoy {

inline ChartGrid bowl(std::size_t side) {
  ChartGrid grid;
  for (std::size_t i = 0; i < side; ++i) {
    grid.x.push_back(-1 + 2.0 * static_cast<double>(i) / static_cast<double>(side - 1));
  }
  grid.y = grid.x;
  for (const double y : grid.y) {
    for (const double x : grid.x) grid.values.push_back(0.1 + x * x + 2 * y * y);
  }
  return grid;
}

inline LineChart some_lines(const std::string& text) {
  return {
      .head = {.title = text, .note = text},
      .x = {.label = text},
      .y = {.label = text, .logarithmic = true},
      .series = {{.name = text, .x = {1, 2, 3}, .y = {3, 2, 1}, .deviation = {1, 0, 0}},
                 {.name = "b", .x = {1, 3}, .y = {2, 2}, .dashed = true, .dots = true}},
      .mark = ChartMark{.x = 2, .name = text}};
}

inline HeatMap some_map(const std::string& text) {
  return {.head = {.title = text, .note = text},
          .row_axis = text,
          .column_axis = text,
          .rows = {text, "r"},
          .columns = {text, "c", "d"},
          .counts = {1, 2, 3, 4, 5, 6}};
}

inline ContourChart some_contours(const std::string& text) {
  return {.head = {.title = text, .note = text},
          .x = {.label = text},
          .y = {.label = text},
          .value = {.label = text, .logarithmic = true},
          .grid = bowl(9),
          .paths = {{.name = text, .x = {0.9, 0.1}, .y = {0.9, 0.1}}},
          .minimum = {{0, 0}}};
}

inline SurfaceChart some_surface(const std::string& text) {
  const ContourChart like = some_contours(text);
  return {
      .head = like.head, .x = like.x, .y = like.y, .value = like.value, .grid = bowl(9)};
}

inline ParallelChart some_runs(const std::string& text) {
  return {.head = {.title = text, .note = text},
          .axes = {{.name = text}, {.name = "b", .ticks = {text, "x"}}, {.name = "loss"}},
          .lines = {{1, 0, 0.5}, {2, 1, 0.25}, {3, 1, NAN}}};
}

inline BarChart some_bars(const std::string& text) {
  return {.head = {.title = text, .note = text},
          .value = text,
          .names = {text, "b", "c"},
          .values = {1, 0, NAN}};
}

inline std::vector<Chart> some_charts(const std::string& text) {
  return {some_lines(text),   some_map(text),  some_contours(text),
          some_surface(text), some_runs(text), some_bars(text)};
}

}  // namespace convoy
