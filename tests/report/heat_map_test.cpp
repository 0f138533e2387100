// SPDX-License-Identifier: Apache-2.0

#include "convoy/report/heat_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/report/png_pixels.h"

namespace convoy {
namespace {

HeatMap map_of(std::size_t rows, std::size_t columns) {
  return {.title = "a title",
          .note = "a note",
          .row_axis = "row",
          .column_axis = "column",
          .rows = std::vector<std::string>(rows, "r"),
          .columns = std::vector<std::string>(columns, "c"),
          .counts = std::vector<std::uint64_t>(rows * columns)};
}

bool is_darkest(Pixel p) { return p.red < 20 && p.blue > p.red + 60; }

TEST(HeatMap, IsAPngOfAnyShape) {
  for (const auto& [rows, columns] :
       std::vector<std::pair<std::size_t, std::size_t>>{{0, 0},
                                                        {1, 10},
                                                        {10, 1},
                                                        {4, 10},
                                                        {40, 10},
                                                        {5, 100},
                                                        {1000, 10},
                                                        {2, 40000}}) {
    const PngPixels picture(heat_map_png(map_of(rows, columns)));

    EXPECT_GE(picture.width(), 400) << rows << " " << columns;
    EXPECT_GT(picture.height(), 100) << rows << " " << columns;
  }
}

TEST(HeatMap, IsWideWhereItHasMoreColumnsThanRows) {
  const PngPixels wide(heat_map_png(map_of(2, 20))), high(heat_map_png(map_of(20, 2)));

  EXPECT_GT(wide.width(), wide.height());
  EXPECT_GT(high.height(), high.width());
}

TEST(HeatMap, HasTheColourOfTheShareOfTheRow) {
  HeatMap map = map_of(2, 40);                                // too many for counts
  map.counts[3] = 5;                                          // all of the first row
  for (std::size_t i = 40; i < 80; ++i) map.counts[i] = 100;  // little of the second
  constexpr int kCell = 12;

  const int dark = PngPixels(heat_map_png(map)).count(is_darkest);
  const int none = PngPixels(heat_map_png(map_of(2, 40))).count(is_darkest);

  EXPECT_EQ(dark - none, kCell * kCell);
}

TEST(HeatMap, HasRoomForItsNote) {
  HeatMap map = map_of(2, 2);
  map.note = std::string(120, 'w');

  EXPECT_GT(PngPixels(heat_map_png(map)).width(), 900);
}

}  // namespace
}  // namespace convoy
