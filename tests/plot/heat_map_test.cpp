// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "convoy/plot/confusion_chart.h"
#include "convoy/plot/plot.h"
#include "convoy/system/file.h"
#include "convoy/system/temporary_folder.h"
#include "tests/plot/png_pixels.h"

namespace convoy {
namespace {

class HeatMapTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!plot_is_available()) GTEST_SKIP() << kNoPlots;
  }

  PngPixels drawn(const HeatMap& map) const {
    draw(map, folder_.path() / "map.png");
    return PngPixels(read_text(folder_.path() / "map.png"));
  }

  TemporaryFolder folder_;
};

HeatMap map_of(std::size_t rows, std::size_t columns, const std::string& name = "n") {
  return {.head = {.title = "a title", .note = "a note"},
          .row_axis = "row",
          .column_axis = "column",
          .rows = std::vector<std::string>(rows, name),
          .columns = std::vector<std::string>(columns, name),
          .counts = std::vector<std::uint64_t>(rows * columns)};
}

bool is_darkest(Pixel p) { return p.red < 20 && p.blue > p.red + 60; }
bool is_tinted(Pixel p) { return p.blue > p.red + 10 && p.red > 200; }

TEST_F(HeatMapTest, IsAPictureOfAnyShape) {
  using Sides = std::pair<std::size_t, std::size_t>;
  for (const auto& [rows, columns] :
       {Sides{0, 0}, {1, 10}, {10, 1}, {31, 5}, {1000, 1000}, {2, 40000}}) {
    const PngPixels picture = drawn(map_of(rows, columns));

    EXPECT_GE(picture.width(), 400) << rows << " " << columns;
    EXPECT_GT(picture.height(), 100) << rows << " " << columns;
    EXPECT_LT(picture.width(), 20'000) << rows << " " << columns;
  }
}

TEST_F(HeatMapTest, IsWideWhereItHasMoreColumnsThanRows) {
  const PngPixels wide = drawn(map_of(2, 20)), high = drawn(map_of(20, 2));

  EXPECT_GT(wide.width(), wide.height());
  EXPECT_GT(high.height(), high.width());
}

TEST_F(HeatMapTest, HasTheColourOfTheShareOfTheRow) {
  HeatMap map = map_of(2, 40);                                // too many for counts
  map.counts[3] = 5;                                          // all of the first row
  for (std::size_t i = 40; i < 80; ++i) map.counts[i] = 100;  // little of the second
  constexpr int kCell = 2 * 12;

  const int dark = drawn(map).count(is_darkest);
  const int none = drawn(map_of(2, 40)).count(is_darkest);

  EXPECT_NEAR(dark - none, kCell * kCell, 3 * kCell);
}

TEST_F(HeatMapTest, HasRoomForItsNote) {
  HeatMap map = map_of(2, 2);
  map.head.note = std::string(60, 'x');

  EXPECT_GT(drawn(map).width(), drawn(map_of(2, 2)).width() + 200);
}

TEST_F(HeatMapTest, CutsLongNames) {
  EXPECT_EQ(drawn(map_of(2, 2, std::string(40, 'x'))).width(),
            drawn(map_of(2, 2, std::string(5000, 'x'))).width());
}

TEST_F(HeatMapTest, TintsTheFewMistakesOfAConfusionMatrix) {
  ConfusionMatrix right({"a", "b"}), wrong({"a", "b"});
  right.add(0, 0, 100);
  wrong.add(0, 0, 97);
  wrong.add(0, 1, 3);

  const PngPixels before = drawn(confusion_chart(right, "t"));
  const PngPixels after = drawn(confusion_chart(wrong, "t"));

  EXPECT_GT(after.count(is_tinted), before.count(is_tinted) + 4000);
}

TEST(ConfusionChart, HasOneRowPerTrueClass) {
  ConfusionMatrix matrix({"cat", "dog"});
  matrix.add(0, 1, 3);
  matrix.add(1, 1, 9);

  const HeatMap map = confusion_chart(matrix, "title");

  EXPECT_EQ(map.head.note, "accuracy 75.00 % (9 of 12)");
  EXPECT_THAT(map.rows, testing::ElementsAre("cat", "dog"));
  EXPECT_THAT(map.counts, testing::ElementsAre(0, 3, 0, 9));
}

TEST_F(HeatMapTest, HasNumbersWhereThereIsNoRoomForNames) {
  const auto ink = [&](std::size_t cells) {
    return drawn(map_of(cells, cells, "")).count([](Pixel p) { return p.green < 110; });
  };
  EXPECT_GT(ink(1000), ink(100) + 300);
}

}  // namespace
}  // namespace convoy
