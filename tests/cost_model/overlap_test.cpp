// SPDX-License-Identifier: Apache-2.0

#include "convoy/cost_model/overlap.h"

#include <gtest/gtest.h>

#include "convoy/cost_model/cost_curve.h"

namespace convoy {
namespace {

TEST(Overlap, AnExchangeThatNeedsNoCoreHidesBehindComputing) {
  const std::vector<Work> works = {{.seconds = 1, .after = {{.seconds = 3}}},
                                   {.seconds = 2}};
  const OverlapEnd end = overlap(works, {});
  EXPECT_DOUBLE_EQ(end.computed, 3);
  EXPECT_DOUBLE_EQ(end.exchanged, 4) << "began at 1, and one second of it is exposed";
}

TEST(Overlap, ExchangesAreServedOneAfterTheOther) {
  const std::vector<Work> works = {{.seconds = 1, .after = {{.seconds = 2}}},
                                   {.seconds = 1, .after = {{.seconds = 2}}}};
  EXPECT_DOUBLE_EQ(overlap(works, {}).exchanged, 5);
}

TEST(Overlap, WithoutASpareCoreAnExchangeTakesFromComputing) {
  const std::vector<Work> works = {{.seconds = 1, .after = {{.seconds = 1, .busy = 1}}},
                                   {.seconds = 1}};
  const OverlapEnd end = overlap(works, {.threads = 1});
  EXPECT_DOUBLE_EQ(end.exchanged, 3) << "all that is to be done, on one core";
  EXPECT_DOUBLE_EQ(end.computed, 3) << "both had half of it to the end";
}

TEST(Overlap, WhoNeedsLessThanHalfACoreGetsIt) {
  const std::vector<Work> works = {{.seconds = 1, .after = {{.seconds = 4, .busy = 1}}},
                                   {.seconds = 6}};
  EXPECT_DOUBLE_EQ(overlap(works, {.threads = 1}).computed, 8)
      << "four seconds at three quarters of the core, then alone";
}

TEST(Overlap, ASpareCoreLeavesComputingAlone) {
  const std::vector<Work> works = {{.seconds = 1, .after = {{.seconds = 1, .busy = 1}}},
                                   {.seconds = 1}};
  EXPECT_DOUBLE_EQ(overlap(works, {.threads = 1, .spare_cores = 1}).exchanged, 2);
}

TEST(Overlap, WorkWaitsForWhatItNeeds) {
  const std::vector<Work> works = {
      {.seconds = 1, .before = {{.seconds = 2}, {.seconds = 2}}, .needs = 1},
      {.seconds = 1, .needs = 2}};
  EXPECT_DOUBLE_EQ(overlap(works, {}).computed, 5)
      << "two for the first, one that hides half of the second, one that is left";
}

TEST(Overlap, OnlyAnIdleThreadHasToBeWoken) {
  const std::vector<Work> works = {
      {.seconds = 1, .after = {{.seconds = 1}, {.seconds = 1}}}};
  EXPECT_DOUBLE_EQ(overlap(works, {.handoff = 0.5}).exchanged, 3.5);
}

TEST(CostCurve, IsStraightBetweenPointsAndGoesOnBeyondTheLast) {
  const CostCurve curve({{100, 1.0}, {200, 2.0}, {400, 6.0}});
  EXPECT_DOUBLE_EQ(curve.at(10), 1);
  EXPECT_DOUBLE_EQ(curve.at(150), 1.5);
  EXPECT_DOUBLE_EQ(curve.at(300), 4);
  EXPECT_DOUBLE_EQ(curve.at(500), 8);
  EXPECT_DOUBLE_EQ(CostCurve().at(100), 0);
}

TEST(CostCurve, WhatIsSmallerTakesNoLonger) {
  EXPECT_DOUBLE_EQ(CostCurve({{100, 5.0}, {200, 2.0}}).at(100), 2);
}

}  // namespace
}  // namespace convoy
