// SPDX-License-Identifier: Apache-2.0

#include "convoy/data/synthetic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "convoy/data/statistics.h"
#include "tests/base/expect_error.h"

namespace convoy {
namespace {

SyntheticOptions small_options() {
  return {.shape = {3, 12, 10}, .classes = 5, .train_count = 500, .test_count = 200};
}

using Means = std::vector<std::vector<double>>;

Means class_means(const Dataset& data) {
  Means means(data.classes.size(), std::vector<double>(data.shape.size()));
  const auto counts = class_counts(data);
  for (std::size_t i = 0; i < data.size(); ++i) {
    auto& mean = means[data.labels[i]];
    for (std::size_t p = 0; p < mean.size(); ++p) {
      mean[p] += data.image(i)[p] / static_cast<double>(counts[data.labels[i]]);
    }
  }
  return means;
}

double distance(const std::vector<double>& mean, std::span<const std::uint8_t> image) {
  double sum = 0;
  for (std::size_t p = 0; p < mean.size(); ++p) {
    sum += (mean[p] - image[p]) * (mean[p] - image[p]);
  }
  return sum;
}

/// The part of `test` whose nearest class mean of `train` is its own.
double nearest_mean_accuracy(const DataPair& data) {
  const Means means = class_means(data.train);
  std::size_t correct = 0;
  for (std::size_t i = 0; i < data.test.size(); ++i) {
    const auto nearest = std::ranges::min_element(
        means, {}, [&](const auto& mean) { return distance(mean, data.test.image(i)); });
    correct += nearest - means.begin() == data.test.labels[i];
  }
  return static_cast<double>(correct) / static_cast<double>(data.test.size());
}

TEST(Synthetic, HasTheAskedForExtent) {
  const DataPair data = make_synthetic(small_options());

  EXPECT_EQ(data.train.size(), 500u);
  EXPECT_EQ(data.test.size(), 200u);
  EXPECT_EQ(data.train.images.size(), 500u * 3 * 12 * 10);
  EXPECT_EQ(data.train.shape, (Shape{3, 12, 10}));
  EXPECT_EQ(class_counts(data.train), std::vector<std::size_t>(5, 100));
}

TEST(Synthetic, RepeatsForTheSameSeedAndDiffersForAnother) {
  SyntheticOptions options = small_options();
  const DataPair first = make_synthetic(options);
  const DataPair again = make_synthetic(options);
  options.seed = 2;
  const DataPair other = make_synthetic(options);

  EXPECT_EQ(first.train.images, again.train.images);
  EXPECT_EQ(first.test.images, again.test.images);
  EXPECT_NE(first.train.images, other.train.images);
}

TEST(Synthetic, GivesASampleThatDoesNotDependOnTheCount) {
  SyntheticOptions options = small_options();
  const DataPair all = make_synthetic(options);
  options.train_count = 7;
  const DataPair few = make_synthetic(options);

  EXPECT_TRUE(std::ranges::equal(few.train.image(6), all.train.image(6)));
}

TEST(Synthetic, SharesNoSampleBetweenTrainAndTest) {
  const DataPair data = make_synthetic(small_options());
  std::set<std::string> seen;
  for (const Dataset* half : {&data.train, &data.test}) {
    for (std::size_t i = 0; i < half->size(); ++i) {
      seen.emplace(half->image(i).begin(), half->image(i).end());
    }
  }

  EXPECT_EQ(seen.size(), data.train.size() + data.test.size());
}

TEST(Synthetic, CanBeLearned) {
  EXPECT_GT(nearest_mean_accuracy(make_synthetic(small_options())), 0.8);
  EXPECT_GT(
      nearest_mean_accuracy(make_synthetic({.train_count = 1000, .test_count = 500})),
      0.8);
}

TEST(Synthetic, IsHarderWhenClassesBlendMore) {
  SyntheticOptions options = small_options();
  options.blend = 1;

  EXPECT_LT(nearest_mean_accuracy(make_synthetic(options)), 0.8);
}

TEST(Synthetic, TakesASinglePixel) {
  const DataPair data = make_synthetic(
      {.shape = {1, 1, 1}, .classes = 2, .train_count = 1, .test_count = 1});

  EXPECT_EQ(data.train.images.size(), 1u);
}

TEST(Synthetic, RefusesOptionsOutOfRange) {
  const auto expect_refused = [](const std::string& name, SyntheticOptions options) {
    expect_error(InputKind::settings, {name}, [&] { make_synthetic(options); });
  };

  expect_refused("height", {.shape = {1, 0, 28}});
  expect_refused("classes", {.classes = 1});
  expect_refused("classes", {.classes = 1'000'001});
  expect_refused("train_count", {.train_count = 0});
  expect_refused("test_count", {.test_count = -1});
  expect_refused("noise", {.noise = -0.1});
  expect_refused("blend", {.blend = std::numeric_limits<double>::quiet_NaN()});
  expect_refused("shift", {.shift = -1});
  expect_refused("128 GiB", {.shape = {1024, 4096, 4096}});
}

TEST(Synthetic, HasMoreClassesThanAByteHasNumbers) {
  const Dataset data =
      make_synthetic(
          {.shape = {1, 4, 4}, .classes = 70'000, .train_count = 70'001, .test_count = 1})
          .train;

  EXPECT_EQ(data.classes.size(), 70'000u);
  EXPECT_EQ(data.labels[69'999], 69'999);
  EXPECT_EQ(data.labels[70'000], 0);
}

TEST(Synthetic, HasTheSamePixelsAsFloats) {
  SyntheticOptions options = small_options();
  const Dataset bytes = make_synthetic(options).train;
  options.floats = true;
  const Dataset floats = make_synthetic(options).train;

  ASSERT_EQ(floats.images.size(), bytes.images.size());
  for (std::size_t i = 0; i < bytes.images.size(); ++i) {
    ASSERT_EQ(floats.images.floats()[i], bytes.images.bytes()[i] / 255.0f);
  }
  EXPECT_EQ(floats.labels, bytes.labels);
}

}  // namespace
}  // namespace convoy
