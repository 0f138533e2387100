// SPDX-License-Identifier: Apache-2.0

#include "convoy/pages/page_series.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace convoy {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(PageSeries, AreWholeIfTheyAreShort) {
  EXPECT_EQ(thinned(std::vector<double>{3, 1, 2}, 3),
            (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_TRUE(thinned({}, 2000).empty());
}

TEST(PageSeries, KeepTheirEndsAndEveryExtreme) {
  std::vector<double> values(100'000, 1);
  values[31'000] = 9;
  values[77'777] = -5;
  const std::vector<std::size_t> kept = thinned(values, 2000);
  EXPECT_LE(kept.size(), 2000u);
  EXPECT_TRUE(std::ranges::is_sorted(kept));
  EXPECT_EQ(kept.front(), 0u);
  EXPECT_EQ(kept.back(), 99'999u);
  EXPECT_TRUE(std::ranges::binary_search(kept, 31'000u));
  EXPECT_TRUE(std::ranges::binary_search(kept, 77'777u));
}

TEST(PageSeries, AreThinnedWithGapsInThem) {
  std::vector<double> values(1000, kNan);
  values[500] = 1;
  values[501] = 2;
  const std::vector<std::size_t> kept = thinned(values, 10);
  EXPECT_LE(kept.size(), 10u);
  for (const std::size_t points : {0, 1, 2, 3}) {
    EXPECT_LE(thinned(values, points).size(), std::max<std::size_t>(points, 1));
  }
}

TEST(PageSeries, AreWrittenWithSixDigits) {
  const PageSeries series{
      .name = "train/loss", .rank = 1, .x = {1, 2, 3}, .y = {1.0 / 3, kNan, 1234567}};
  EXPECT_EQ(series_json(series, 10).dump(),
            R"({"name":"train/loss","rank":1,"x":[1,2,3],"y":[0.333333,null,1234567]})");
}

}  // namespace
}  // namespace convoy
