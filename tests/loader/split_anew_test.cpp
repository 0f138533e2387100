// SPDX-License-Identifier: Apache-2.0

#include "convoy/loader/split_anew.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "tests/base/expect_error.h"

namespace convoy {
namespace {

using LabelList = std::vector<int>;

/// Samples [begin, end) of 1 x 1 x 2 pixels, both of them and the label the sample's
/// number.
Dataset numbered_half(int begin, int end, bool floats) {
  Dataset data{.name = "numbered", .shape = {1, 1, 2}};
  data.classes.resize(200);
  std::vector<std::uint8_t> bytes;
  std::vector<std::int32_t> labels;
  for (int i = begin; i < end; ++i) {
    bytes.insert(bytes.end(), 2, static_cast<std::uint8_t>(i));
    labels.push_back(i);
  }
  data.images =
      floats ? Pixels(std::vector<float>(bytes.begin(), bytes.end())) : Pixels(bytes);
  data.labels = labels;
  return data;
}

DataPair two_halves(bool floats = false) {
  return {numbered_half(0, 130, floats), numbered_half(130, 170, floats)};
}

/// The labels of samples, each of which has to have its own pixels.
LabelList checked_labels(const Dataset& data, const std::vector<std::uint32_t>& samples) {
  LabelList labels;
  for (const std::uint32_t sample : samples) {
    labels.push_back(data.labels[sample]);
    data.visit_image(sample, [&](auto image) {
      EXPECT_TRUE(std::ranges::all_of(
          image, [&](auto pixel) { return pixel == data.labels[sample]; }));
    });
  }
  return labels;
}

LabelList checked_labels(const Dataset& data) {
  std::vector<std::uint32_t> all(data.size());
  std::iota(all.begin(), all.end(), 0u);
  return checked_labels(data, all);
}

struct NewSplits {
  LabelList train, validation, test;

  LabelList all() const {
    LabelList joined = train;
    joined.insert(joined.end(), validation.begin(), validation.end());
    joined.insert(joined.end(), test.begin(), test.end());
    return joined;
  }
};

NewSplits new_splits(const SplitSizes& sizes, std::uint64_t seed, bool floats = false) {
  const DataPair data = split_anew(two_halves(floats), sizes, seed);
  const Split split = in_order(sizes);
  EXPECT_EQ(data.train.size(), sizes.train + sizes.validation);
  return {checked_labels(data.train, split.train),
          checked_labels(data.train, split.validation), checked_labels(data.test)};
}

TEST(SplitAnew, IsDisjointAndComplete) {
  for (const bool floats : {false, true}) {
    const NewSplits found = new_splits({100, 30, 40}, 42, floats);
    EXPECT_EQ(found.train.size(), 100u);
    EXPECT_EQ(found.validation.size(), 30u);
    EXPECT_EQ(found.test.size(), 40u);
    LabelList all = found.all(), expected(170);
    std::ranges::sort(all);
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(all, expected);
  }
}

TEST(SplitAnew, MixesBothHalves) {
  const NewSplits found = new_splits({100, 30, 40}, 42);
  for (const LabelList& split : {found.train, found.validation, found.test}) {
    EXPECT_THAT(split, testing::Contains(testing::Lt(130)));
    EXPECT_THAT(split, testing::Contains(testing::Ge(130)));
    EXPECT_TRUE(std::ranges::is_sorted(split));
  }
}

TEST(SplitAnew, FollowsFromItsSeed) {
  EXPECT_EQ(new_splits({100, 30, 40}, 42).all(), new_splits({100, 30, 40}, 42).all());
  EXPECT_NE(new_splits({100, 30, 40}, 42).all(), new_splits({100, 30, 40}, 43).all());
}

TEST(SplitAnew, MayLeaveSamplesOut) {
  const NewSplits found = new_splits({10, 0, 5}, 42);
  LabelList all = found.all();
  std::ranges::sort(all);

  EXPECT_THAT(found.validation, testing::IsEmpty());
  EXPECT_EQ(all.size(), 15u);
  EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
}

TEST(SplitAnew, RefusesMoreSamplesThanThereAre) {
  expect_error(InputKind::settings,
               {"data.split", "100 + 30 + 41 = 171 samples", "at most 170",
                "130 training and 40 test samples"},
               [] {
                 split_anew(two_halves(), {100, 30, 41}, 42);
               });
}

}  // namespace
}  // namespace convoy
