// SPDX-License-Identifier: Apache-2.0

#include "convoy/study/study_space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "tests/base/expect_error.h"

namespace convoy {
namespace {

using testing::ElementsAre;

StudyDimension counted(const std::string& name, std::size_t values) {
  StudyDimension dimension{.name = name, .values = {}};
  for (std::size_t i = 0; i < values; ++i) dimension.values.push_back(std::to_string(i));
  return dimension;
}

TEST(StudySpace, VariesTheLastDimensionFastest) {
  EXPECT_THAT(combinations({counted("a", 2), counted("b", 2)}, {}),
              ElementsAre(ElementsAre("0", "0"), ElementsAre("0", "1"),
                          ElementsAre("1", "0"), ElementsAre("1", "1")));
}

TEST(StudySpace, OfNoDimensionHasOneCombination) {
  EXPECT_THAT(combinations({}, {}), ElementsAre(testing::IsEmpty()));
}

TEST(StudySpace, CountsTenMillionCombinationsBeforeItMakesOne) {
  expect_error(
      InputKind::settings,
      {"10,000,000 combinations: 1000 of a x 1000 of b x 10 of c", "at most 10,000"}, [] {
        combinations({counted("a", 1000), counted("b", 1000), counted("c", 10)}, {});
      });
}

TEST(StudySpace, CountsWhatNoNumberHolds) {
  const std::vector<StudyDimension> many(30, counted("a", 10));
  expect_error(InputKind::settings, {"more than 10^19"}, [&] { combinations(many, {}); });
}

TEST(StudySpace, DrawsTheSameTrialsFromTheSameSeed) {
  const std::vector<StudyDimension> space{
      counted("a", 100), {.name = "b", .values = {}, .interval = Interval{0, 1}}};
  const auto draw = [&](std::size_t trials, std::uint64_t seed) {
    return combinations(space, {.trials = trials, .seed = seed});
  };
  const std::vector<Combination> ten = draw(10, 1), twenty = draw(20, 1);
  EXPECT_EQ(std::vector(twenty.begin(), twenty.begin() + 10), ten);
  EXPECT_NE(draw(10, 2), ten);
  EXPECT_EQ(std::set(ten.begin(), ten.end()).size(), 10);
}

TEST(StudySpace, DrawsWithinIntervals) {
  const std::vector<StudyDimension> space{
      {.name = "a",
       .values = {},
       .interval = Interval{.low = 1e-4, .high = 0.1, .log = true}},
      {.name = "b",
       .values = {},
       .interval = Interval{.low = 1, .high = 3, .whole = true}}};
  int below_the_middle = 0;
  std::set<std::string> whole;
  for (const Combination& one : combinations(space, {.trials = 400})) {
    const double a = std::atof(one[0].c_str());
    EXPECT_GE(a, 1e-4);
    EXPECT_LE(a, 0.1);
    below_the_middle += a < std::sqrt(1e-4 * 0.1) ? 1 : 0;
    whole.insert(one[1]);
  }
  EXPECT_NEAR(below_the_middle, 200, 50);  // of the logarithm
  EXPECT_THAT(whole, ElementsAre("1", "2", "3"));
}

TEST(StudySpace, RepeatsEveryTrialWithAllSeeds) {
  const std::vector<Combination> all =
      combinations({counted("a", 50), counted("train.seed", 3)}, {.trials = 4});
  ASSERT_EQ(all.size(), 12);
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_EQ(all[i][0], all[i / 3 * 3][0]);
    EXPECT_EQ(all[i][1], std::to_string(i % 3));
  }
}

TEST(StudySpace, RefusesAnIntervalInAGrid) {
  expect_error(InputKind::settings, {"optimizer.lr", "--trials"}, [] {
    combinations({{.name = "optimizer.lr", .values = {}, .interval = Interval{}}}, {});
  });
}

}  // namespace
}  // namespace convoy
