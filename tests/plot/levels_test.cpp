// SPDX-License-Identifier: Apache-2.0

#include "convoy/plot/levels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "convoy/plot/contour_labels.h"
#include "convoy/plot/gnuplot_text.h"
#include "tests/plot/some_charts.h"

namespace convoy {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(Levels, AreRoundNumbersInsideTheRange) {
  EXPECT_THAT(nice_levels({0, 10}, 4, false), ElementsAre(2, 4, 6, 8));
  EXPECT_THAT(
      nice_levels({0.1, 10}, 3, true),
      ElementsAre(DoubleNear(0.32, 1e-9), DoubleNear(1, 1e-9), DoubleNear(3.2, 1e-9)));
  EXPECT_THAT(nice_levels({3, 3}, 4, false), IsEmpty());
}

TEST(Levels, LeaveOutWhatHasNoPlaceOnTheAxis) {
  const std::vector<double> values = {NAN, -1, INFINITY, 2, 0.5};

  EXPECT_EQ(value_range(values, false).low, -1);
  EXPECT_EQ(value_range(values, true).low, 0.5);
  EXPECT_EQ(value_range(values, true).high, 2);
  EXPECT_TRUE(value_range(std::vector<double>{NAN}, false).is_point());
}

TEST(Levels, OfALogarithmicAxisAreNeverTooFewOrTooMany) {
  EXPECT_THAT(logarithmic_ticks({0.04, 1.2}, 8), ElementsAre(0.05, 0.1, 0.2, 0.5, 1));
  EXPECT_GE(logarithmic_ticks({0.31, 0.33}, 8).size(), 2);
  EXPECT_LE(logarithmic_ticks({1e-30, 1e30}, 8).size(), 9);
}

TEST(ContourLabels, AreOnTheirLinesAndApart) {
  const ChartGrid grid = bowl(25);
  const std::vector<double> levels = {0.3, 0.6, 1.2};

  const std::vector<ContourLabel> labels = contour_labels(grid, levels, {});

  ASSERT_EQ(labels.size(), 3);
  for (const ContourLabel& label : labels) {
    EXPECT_NEAR(0.1 + label.x * label.x + 2 * label.y * label.y, label.level, 0.02);
  }
  EXPECT_GT(std::hypot(labels[0].x - labels[1].x, labels[0].y - labels[1].y), 0.2);
}

TEST(ContourLabels, AvoidPaths) {
  const ChartGrid grid = bowl(25);
  const ContourLabel free = contour_labels(grid, std::vector<double>{0.6}, {}).front();
  const ChartPath path{.name = "p", .x = {free.x}, .y = {free.y}};

  const ContourLabel moved =
      contour_labels(grid, std::vector<double>{0.6}, std::vector<ChartPath>{path})
          .front();

  EXPECT_GT(std::hypot(moved.x - free.x, moved.y - free.y), 0.2);
}

TEST(GnuplotText, HasOnlyLettersBlanksAndOctalNumbers) {
  EXPECT_EQ(gnuplot_text("a `b`1"), R"("a \140b\140\061")");
  EXPECT_EQ(gnuplot_text("\"\n@é"), R"("\042 \100\303\251")");
  EXPECT_EQ(gnuplot_tick("5 %"), R"("\065 \045\045")");
}

TEST(GnuplotText, IsCutToAWidth) {
  EXPECT_EQ(shortened("abc", 100, 10), "abc");
  const std::string cut = shortened(std::string(50, 'x'), 100, 10);
  EXPECT_LE(text_pixels(cut, 10), 100);
  EXPECT_THAT(cut, testing::EndsWith("x…"));
  EXPECT_THAT(shortened("ééééééééééééééé", 60, 10), testing::EndsWith("é…"));
}

}  // namespace
}  // namespace convoy
