// SPDX-License-Identifier: Apache-2.0

#include "convoy/evaluate/evaluation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "convoy/data/synthetic.h"
#include "convoy/models/models.h"
#include "convoy/network/layers/flatten.h"
#include "convoy/network/layers/linear.h"

namespace convoy {
namespace {

// A prime above two of the evaluator's batches: the last one is odd and smaller.
constexpr int kSamples = 521;

class Evaluation : public testing::Test {
 protected:
  EvaluationResult run(const std::vector<std::uint32_t>& samples, int threads) {
    ThreadTeam team(threads);
    Evaluator evaluator(model, layout, {}, team);
    return evaluator.run({data, samples, normalization}, {values, statistics});
  }

  static std::vector<std::uint32_t> samples(std::uint32_t begin, std::uint32_t end) {
    std::vector<std::uint32_t> numbers(end - begin);
    std::iota(numbers.begin(), numbers.end(), begin);
    return numbers;
  }

  Dataset data = make_synthetic({.train_count = kSamples, .test_count = 1}).train;
  Normalization normalization = measure(data);
  Model model = make_model("lenet5", data.shape, 10);
  Layout layout = build_layout(model);
  FlatBuffer values{layout};
  FlatBuffer statistics{build_statistics_layout(model)};
};

TEST_F(Evaluation, OfAConstantAnswerIsExact) {
  constexpr int answer = 3;  // what the network says to everything
  values.view(layout.segments().back().range)[answer] = 1;
  ThreadTeam team(2);
  Evaluator evaluator(model, layout, {}, team);

  const EvaluationResult result =
      evaluator.run(all_of(data, normalization), {values, statistics});

  const auto right = static_cast<std::uint64_t>(
      std::count(data.labels.begin(), data.labels.end(), answer));
  EXPECT_EQ(result.sum.samples, static_cast<std::uint64_t>(kSamples));
  EXPECT_EQ(result.sum.correct, right);
  EXPECT_EQ(result.matrix.total(), static_cast<std::uint64_t>(kSamples));
  EXPECT_EQ(result.matrix.correct(), right);
  EXPECT_EQ(result.matrix.predicted_count(answer), static_cast<std::uint64_t>(kSamples));
  const double loss = kSamples * std::log(9 + std::exp(1.0)) - static_cast<double>(right);
  EXPECT_NEAR(result.sum.loss, loss, 1e-3);
}

TEST_F(Evaluation, CountsTheFirstOfEqualsAmongTheTopFive) {
  constexpr int answer = 7;  // then, of nine equals, classes 0 to 3
  values.view(layout.segments().back().range)[answer] = 1;

  const EvaluationResult result = run(samples(0, kSamples), /*threads=*/1);

  const auto in_top = std::ranges::count_if(
      data.labels, [](int label) { return label == answer || label < 4; });
  EXPECT_EQ(result.sum.in_top, static_cast<std::uint64_t>(in_top));
  EXPECT_GT(result.sum.in_top, result.sum.correct);
}

TEST_F(Evaluation, KeepsPredictionsIfAskedTo) {
  constexpr int answer = 3;
  values.view(layout.segments().back().range)[answer] = 1;
  ThreadTeam team(2);
  Evaluator evaluator(model, layout, {.predictions = true}, team);

  const std::vector<Prediction> said =
      evaluator.run({data, samples(200, kSamples), normalization}, {values, statistics})
          .predictions;

  ASSERT_EQ(said.size(), kSamples - 200u);
  for (std::uint32_t i = 0; i < said.size(); ++i) {
    EXPECT_EQ(said[i].sample, 200 + i);
    EXPECT_EQ(said[i].truth, data.labels[200 + i]);
    EXPECT_EQ(said[i].predicted, answer);
    EXPECT_NEAR(said[i].probability, std::exp(1.0) / (9 + std::exp(1.0)), 1e-6);
  }
  EXPECT_TRUE(run(samples(0, 9), 1).predictions.empty());
}

TEST_F(Evaluation, CountsEverySampleOnce) {
  initialize(layout, /*seed=*/1, values);

  const EvaluationResult whole = run(samples(0, kSamples), /*threads=*/2);
  EvaluationResult parts = run(samples(0, 97), /*threads=*/2);
  const EvaluationResult rest = run(samples(97, kSamples), /*threads=*/2);
  parts.sum += rest.sum;

  EXPECT_EQ(whole.sum.samples, static_cast<std::uint64_t>(kSamples));
  EXPECT_EQ(whole.sum.correct, parts.sum.correct);
  EXPECT_NEAR(whole.sum.loss, parts.sum.loss, 1e-3);
  for (std::size_t i = 0; i < whole.matrix.counts().size(); ++i) {
    EXPECT_EQ(whole.matrix.counts()[i],
              parts.matrix.counts()[i] + rest.matrix.counts()[i]);
  }
  EXPECT_EQ(whole.matrix.correct(), whole.sum.correct);
}

TEST_F(Evaluation, IsTheSameOnAnyNumberOfThreads) {
  initialize(layout, /*seed=*/1, values);
  const EvaluationResult one = run(samples(0, kSamples), /*threads=*/1);

  for (const int threads : {2, 3}) {
    const EvaluationResult several = run(samples(0, kSamples), threads);
    EXPECT_EQ(several.sum.loss, one.sum.loss);
    EXPECT_EQ(several.sum.correct, one.sum.correct);
    EXPECT_TRUE(std::ranges::equal(several.matrix.counts(), one.matrix.counts()));
  }
}

TEST_F(Evaluation, WithFlipIsTheSameForAnImageAndItsMirrorImage) {
  initialize(layout, /*seed=*/1, values);
  Dataset mirrored = data;
  std::vector<std::uint8_t> pixels(data.images.bytes().begin(),
                                   data.images.bytes().end());
  for (auto row = pixels.begin(); row != pixels.end(); row += data.shape.width) {
    std::reverse(row, row + data.shape.width);
  }
  mirrored.images = pixels;
  ThreadTeam team(2);
  Evaluator plain(model, layout, {}, team), flip(model, layout, {.flip = true}, team);

  const EvaluationResult one =
      flip.run(all_of(data, normalization), {values, statistics});
  const EvaluationResult other =
      flip.run(all_of(mirrored, normalization), {values, statistics});

  EXPECT_EQ(one.sum.samples, static_cast<std::uint64_t>(kSamples));
  EXPECT_EQ(one.sum.loss, other.sum.loss);
  EXPECT_TRUE(std::ranges::equal(one.matrix.counts(), other.matrix.counts()));
  EXPECT_NE(one.sum.loss,
            plain.run(all_of(data, normalization), {values, statistics}).sum.loss);
}

TEST_F(Evaluation, WithFlipOfImagesLikeTheirMirrorImagesIsTheOneWithout) {
  initialize(layout, /*seed=*/1, values);
  const int width = data.shape.width;
  std::vector<std::uint8_t> pixels(data.images.bytes().begin(),
                                   data.images.bytes().end());
  for (auto row = pixels.begin(); row != pixels.end(); row += width) {
    std::reverse_copy(row, row + width / 2, row + width - width / 2);
  }
  data.images = pixels;
  ThreadTeam team(2);
  Evaluator plain(model, layout, {}, team), flip(model, layout, {.flip = true}, team);

  const EvaluationResult one =
      plain.run(all_of(data, normalization), {values, statistics});
  const EvaluationResult other =
      flip.run(all_of(data, normalization), {values, statistics});

  EXPECT_NEAR(one.sum.loss, other.sum.loss, 1e-3);
  EXPECT_EQ(one.sum.correct, other.sum.correct);
  EXPECT_EQ(other.matrix.correct(), other.sum.correct);
}

/// The dataset whose every image is its half with a quarter of each of its two moved
/// views.
Dataset blurred(const Dataset& data, int shift, std::vector<std::uint8_t>& pixels) {
  const int width = data.shape.width, height = data.shape.height;
  const auto mirrored = [](int place, int size) {
    return place < 0 ? -place : std::min(place, 2 * (size - 1) - place);
  };
  const auto at = [&](std::size_t plane, int row, int column) {
    return data.images.bytes()[(plane * height + mirrored(row, height)) * width +
                               mirrored(column, width)];
  };
  for (std::size_t i = 0; i < data.images.size(); ++i) {
    const std::size_t plane = i / (height * width);
    const int row = static_cast<int>(i / width) % height,
              column = static_cast<int>(i) % width;
    pixels.push_back(static_cast<std::uint8_t>((2 * at(plane, row, column) +
                                                at(plane, row - shift, column - shift) +
                                                at(plane, row + shift, column + shift)) /
                                               4));
  }
  Dataset result = data;
  result.images = pixels;
  return result;
}

TEST_F(Evaluation, WithShiftOfALinearModelIsThatOfTheMeanImage) {
  model = {"linear", data.shape, {Flatten{}, Linear{"fc", 10}}};
  layout = build_layout(model);
  values = FlatBuffer(layout);
  initialize(layout, /*seed=*/1, values);
  std::vector<std::uint8_t> of_four(data.images.bytes().begin(),
                                    data.images.bytes().end()),
      means;
  for (std::uint8_t& pixel : of_four) pixel &= 0xFC;  // a mean is a whole number
  data.images = of_four;
  const Dataset mean = blurred(data, /*shift=*/2, means);
  ThreadTeam team(2);
  Evaluator plain(model, layout, {}, team), moved(model, layout, {.shift = 2}, team);

  const EvaluationResult one =
      moved.run(all_of(data, normalization), {values, statistics});
  const EvaluationResult other =
      plain.run(all_of(mean, normalization), {values, statistics});

  EXPECT_NEAR(one.sum.loss, other.sum.loss, 1e-3);
  EXPECT_EQ(one.sum.correct, other.sum.correct);
  EXPECT_GT(
      std::abs(plain.run(all_of(data, normalization), {values, statistics}).sum.loss -
               one.sum.loss),
      0.1);
}

TEST_F(Evaluation, DoesNotDropOut) {
  model = make_model("cnn1", data.shape, 10);
  layout = build_layout(model);
  values = FlatBuffer(layout);
  initialize(layout, /*seed=*/1, values);

  EXPECT_EQ(run(samples(0, 11), 1).sum.loss, run(samples(0, 11), 1).sum.loss);
  EXPECT_NEAR(run(samples(0, 11), 1).sum.loss,
              run(samples(0, 5), 1).sum.loss + run(samples(5, 11), 1).sum.loss, 1e-4);
}

TEST(EvaluationBatch, IsSmallerWhereNumbersTakeMuchMemory) {
  EXPECT_EQ(evaluation_batch_size({3, 32, 32}, 10), 256u);
  EXPECT_EQ(evaluation_batch_size({3, 224, 224}, 10), 16u);
  EXPECT_EQ(evaluation_batch_size({3, 32, 32}, 100'000), 32u);
  EXPECT_EQ(evaluation_batch_size({3, 32, 32}, 1'000'000), 16u);
}

TEST_F(Evaluation, OfResizedImagesIsThatOfImagesOfThatSize) {
  Resizer<std::uint8_t> resizer(data.shape, {1, 20, 20});
  std::vector<std::uint8_t> pixels;
  for (std::size_t i = 0; i < data.size(); ++i) {
    const auto resized = resizer.resize(data.image(i));
    pixels.insert(pixels.end(), resized.begin(), resized.end());
  }
  Dataset small = data;
  small.shape = {1, 20, 20};
  small.images = pixels;
  const Model of_small{"linear", small.shape, {Flatten{}, Linear{"fc", 10}}};
  const Layout its_layout = build_layout(of_small);
  FlatBuffer its_values(its_layout), none(build_statistics_layout(of_small));
  initialize(its_layout, /*seed=*/1, its_values);
  ThreadTeam team(1);
  for (const bool flip : {false, true}) {
    Evaluator evaluator(of_small, its_layout, {.flip = flip}, team);
    EvaluationSet set = all_of(data, normalization);
    set.image = small.shape;

    EXPECT_EQ(evaluator.run(set, {its_values, none}).sum.loss,
              evaluator.run(all_of(small, normalization), {its_values, none}).sum.loss);
  }
}

}  // namespace
}  // namespace convoy
