// SPDX-License-Identifier: Apache-2.0

#include "convoy/loader/folds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include "tests/base/expect_error.h"

namespace convoy {
namespace {

using FoldSamples = std::vector<std::uint32_t>;

/// Samples of three labels, one of which is rare. Images have no pixels that matter.
Dataset data_of_folds(std::size_t count) {
  Dataset data{.name = "folds", .shape = {1, 1, 1}};
  data.classes.resize(3);
  std::vector<std::int32_t> labels;
  for (std::size_t i = 0; i < count; ++i) {
    labels.push_back(i % 11 == 0 ? 2 : static_cast<std::int32_t>(i % 2));
  }
  data.images = std::vector<std::uint8_t>(count);
  data.labels = labels;
  return data;
}

FoldSamples numbers_below(std::uint32_t count) {
  FoldSamples all(count);
  std::iota(all.begin(), all.end(), 0u);
  return all;
}

class Folds : public testing::TestWithParam<FoldBy> {
 protected:
  Split fold(const FoldSamples& samples, int folds, int fold, std::uint64_t seed = 1) {
    return split_by_fold(data_, samples,
                         {.folds = folds, .fold = fold, .by = GetParam(), .seed = seed});
  }

  Dataset data_ = data_of_folds(103);
};

TEST_P(Folds, ValidateEverySampleOnce) {
  const FoldSamples samples = numbers_below(103);
  FoldSamples validated;
  for (int i = 0; i < 5; ++i) {
    const Split split = fold(samples, 5, i);
    validated.insert(validated.end(), split.validation.begin(), split.validation.end());
  }
  std::ranges::sort(validated);
  EXPECT_EQ(validated, samples);
}

TEST_P(Folds, TrainOnAllOthersInAscendingOrder) {
  const FoldSamples samples = numbers_below(103);
  const Split split = fold(samples, 5, 3);
  FoldSamples both = split.train;
  both.insert(both.end(), split.validation.begin(), split.validation.end());
  std::ranges::sort(both);
  EXPECT_EQ(both, samples);
  EXPECT_TRUE(std::ranges::is_sorted(split.train));
  EXPECT_TRUE(std::ranges::is_sorted(split.validation));
}

TEST_P(Folds, DifferBySizeByAtMostOne) {
  for (int i = 0; i < 5; ++i) {
    EXPECT_THAT(fold(numbers_below(103), 5, i).validation.size(), testing::AnyOf(20, 21));
  }
}

TEST_P(Folds, ContainOnlyTheSamplesThatAreUsed) {
  const FoldSamples some{3, 8, 9, 40, 77, 102};
  const Split split = fold(some, 3, 0);
  EXPECT_EQ(split.validation.size(), 2);
  EXPECT_THAT(split.train, testing::IsSubsetOf(some));
  EXPECT_THAT(split.validation, testing::IsSubsetOf(some));
}

TEST_P(Folds, AreRefusedIfThereAreMoreThanSamples) {
  expect_error(InputKind::settings, {"data.folds", "5 folds of 4 samples"},
               [&] { fold(numbers_below(4), 5, 0); });
}

INSTANTIATE_TEST_SUITE_P(AllKinds, Folds,
                         testing::Values(FoldBy::order, FoldBy::shuffled,
                                         FoldBy::stratified));

TEST(FoldKinds, AsTheyAreHaveNeighbours) {
  const Split split = split_by_fold(data_of_folds(10), numbers_below(10),
                                    {.folds = 4, .fold = 1, .by = FoldBy::order});
  EXPECT_EQ(split.validation, (FoldSamples{3, 4, 5}));
}

TEST(FoldKinds, ShuffledFollowTheSeed) {
  const auto validation = [](std::uint64_t seed) {
    return split_by_fold(data_of_folds(103), numbers_below(103),
                         {.folds = 5, .by = FoldBy::shuffled, .seed = seed})
        .validation;
  };
  EXPECT_EQ(validation(1), validation(1));
  EXPECT_NE(validation(1), validation(2));
}

TEST(FoldKinds, StratifiedHaveEqualSharesOfEveryLabel) {
  const Dataset data = data_of_folds(103);
  for (int fold = 0; fold < 5; ++fold) {
    const Split split = split_by_fold(
        data, numbers_below(103), {.folds = 5, .fold = fold, .by = FoldBy::stratified});
    std::map<int, int> counts;
    for (const std::uint32_t sample : split.validation) ++counts[data.labels[sample]];
    // There are 47, 46 and 10 samples of the labels.
    EXPECT_THAT(counts[0], testing::AnyOf(9, 10));
    EXPECT_THAT(counts[1], testing::AnyOf(9, 10));
    EXPECT_EQ(counts[2], 2);
  }
}

}  // namespace
}  // namespace convoy
