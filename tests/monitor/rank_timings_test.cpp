// SPDX-License-Identifier: Apache-2.0

#include "convoy/monitor/rank_timings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace convoy {
namespace {

using testing::HasSubstr;

StepReport report(double own, double exposed, double data = 0) {
  return {.own_seconds = own * 1e-3,
          .data_seconds = data * 1e-3,
          .exposed_seconds = exposed * 1e-3,
          .bytes_sent = 100};
}

TEST(RankTimings, IsTheMedianOfEachRank) {
  RankTimings pace(2);
  for (const double own : {1000.0, 3.0, 1.0, 2.0}) {
    const StepReport reports[] = {report(own, 7), report(2 * own, 8)};
    pace.add(reports);
  }

  const std::vector<RankTiming> ranks = pace.whole();

  EXPECT_FLOAT_EQ(ranks.at(0).own, 2);
  EXPECT_FLOAT_EQ(ranks.at(1).own, 4);
  EXPECT_FLOAT_EQ(ranks.at(1).exposed, 8);
  EXPECT_EQ(ranks.at(1).bytes_sent, 400u);
}

TEST(RankTimings, StartsAgainWithEachWindow) {
  RankTimings pace(1);
  for (int i = 0; i < 3; ++i) pace.add(std::vector{report(50, 0)});
  pace.start_window();
  pace.add(std::vector{report(5, 0)});

  EXPECT_FLOAT_EQ(pace.window().at(0).own, 5);
  EXPECT_EQ(pace.window().at(0).bytes_sent, 100u);
  EXPECT_FLOAT_EQ(pace.whole().at(0).own, 50);
}

TEST(Straggler, IsTheRankWhoseOwnTimeStandsOut) {
  const RankTiming ranks[] = {{.own = 11, .exposed = 50},
                              {.own = 11, .exposed = 51},
                              {.own = 61, .exposed = 1},
                              {.own = 12, .exposed = 49}};

  const std::optional<Straggler> straggler = find_straggler(ranks);

  ASSERT_TRUE(straggler);
  EXPECT_EQ(straggler->rank, 2u);
  EXPECT_EQ(describe(*straggler),
            "slowest: rank 2, own compute 61 ms per step, 11 ms on other ranks, the "
            "others wait 49 ms for it");
}

TEST(Straggler, IsDescribedWithoutNeedlessDigits) {
  EXPECT_EQ(short_milliseconds(1161.81), "1162 ms");
  EXPECT_EQ(short_milliseconds(61.4), "61 ms");
  EXPECT_EQ(short_milliseconds(0.2519), "0.25 ms");
  EXPECT_EQ(short_milliseconds(0), "0 ms");
}

TEST(Straggler, IsNamedByItsDataIfItWaitsForThat) {
  const RankTiming ranks[] = {
      {.own = 11, .exposed = 30}, {.own = 12, .data = 30}, {.own = 11, .exposed = 30}};

  const std::optional<Straggler> straggler = find_straggler(ranks);

  ASSERT_TRUE(straggler);
  EXPECT_EQ(straggler->rank, 1u);
  EXPECT_THAT(describe(*straggler), HasSubstr("waiting for data 30 ms per step"));
}

TEST(Straggler, IsNobodyAmongEquals) {
  const RankTiming ranks[] = {{.own = 11, .exposed = 5}, {.own = 11.5}, {.own = 11.2}};
  const RankTiming one[] = {{.own = 11}};

  EXPECT_FALSE(find_straggler(ranks));
  EXPECT_FALSE(find_straggler(one));
}

/// Its time may go by where nobody has to wait for it.
TEST(Straggler, IsNobodyTheOthersDoNotWaitFor) {
  const RankTiming ranks[] = {{.own = 11, .exposed = 5}, {.own = 15, .exposed = 5}};

  EXPECT_FALSE(find_straggler(ranks));
}

/// Waiting for others is not being slow.
TEST(Straggler, IsNotFoundByHowLongItWaits) {
  const RankTiming ranks[] = {{.own = 11, .exposed = 90}, {.own = 11, .exposed = 3}};

  EXPECT_FALSE(find_straggler(ranks));
}

}  // namespace
}  // namespace convoy
