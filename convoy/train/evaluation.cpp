// SPDX-License-Identifier: Apache-2.0

#include "convoy/train/evaluation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace convoy {
namespace {

constexpr std::size_t kBatch = 256;

/// Every image mirrored left to right.
void mirror(std::span<const float> images, Shape shape, std::span<float> mirrored) {
  const auto width = static_cast<std::size_t>(shape.width);
  for (std::size_t row = 0; row < images.size(); row += width) {
    std::ranges::reverse_copy(images.subspan(row, width),
                              mirrored.subspan(row, width).begin());
  }
}

/// The class with the largest logit, the first of equals.
std::size_t prediction(std::span<const double> logits) {
  return static_cast<std::size_t>(std::ranges::max_element(logits) - logits.begin());
}

double cross_entropy(std::span<const double> logits, std::size_t label) {
  const double largest = std::ranges::max(logits);
  double sum = 0;
  for (const double logit : logits) sum += std::exp(logit - largest);
  return std::log(sum) + largest - logits[label];
}

NetworkOptions evaluating(NetworkOptions options, const FlatBuffer& statistics) {
  options.most_samples = kBatch;
  options.training = false;
  options.label_smoothing = 0;
  options.statistics = &statistics;
  return options;
}

}  // namespace

Evaluator::Evaluator(const Model& model, const Layout& layout,
                     const EvaluationOptions& options, ThreadTeam& team)
    : statistics_(build_statistics_layout(model)),
      network_(model, layout, evaluating(options.network, statistics_), team),
      image_(model.input),
      classes_(static_cast<std::size_t>(class_count(model))),
      flip_(options.flip) {
  if (!flip_) return;
  mirrored_.resize(kBatch * image_.size());
  logits_.resize(kBatch * classes_);
}

std::size_t EvaluationSet::batches() const {
  return (samples.size() + kBatch - 1) / kBatch;
}

EvaluationSet all_of(const Dataset& data, const Normalization& normalization) {
  std::vector<std::uint32_t> all(data.size());
  std::iota(all.begin(), all.end(), 0u);
  return {data, std::move(all), normalization};
}

EvaluationResult Evaluator::run(const EvaluationSet& set, const Weights& weights) {
  EvaluationPart whole = run_part(set, {0, set.batches()}, weights);
  EvaluationResult result{.sum = {}, .matrix = std::move(whole.matrix)};
  for (const LossSum& batch : whole.batches) result.sum += batch;
  return result;
}

EvaluationPart Evaluator::run_part(const EvaluationSet& set, Range batches,
                                   const Weights& weights) {
  std::ranges::copy(weights.statistics.numbers(), statistics_.data());
  EvaluationPart part{.batches = {}, .matrix = ConfusionMatrix(set.data.classes)};
  if (batches.size() == 0) return part;
  const std::size_t end = std::min(set.samples.size(), batches.end * kBatch);
  const std::span samples =
      std::span(set.samples).first(end).subspan(batches.begin * kBatch);
  Loader loader(
      set.data, {samples.begin(), samples.end()},
      {.batch_size = kBatch, .shuffle = false, .normalization = set.normalization});
  loader.start_epoch(0);
  while (const Batch* batch = loader.next()) {
    part.batches.push_back(flip_ ? flipped(*batch, weights.values, part.matrix)
                                 : plain(*batch, weights.values, part.matrix));
  }
  return part;
}

LossSum Evaluator::plain(const Batch& batch, const FlatBuffer& values,
                         ConfusionMatrix& matrix) {
  PassListener nobody;
  const LossSum sum = network_.forward({batch.images, batch.labels}, values, {}, nobody);
  const std::span<const std::int32_t> predictions = network_.predictions();
  for (std::size_t i = 0; i < batch.count; ++i) {
    matrix.add(batch.labels[i], predictions[i]);
  }
  return sum;
}

LossSum Evaluator::flipped(const Batch& batch, const FlatBuffer& values,
                           ConfusionMatrix& matrix) {
  const std::span mirrored = std::span(mirrored_).first(batch.images.size());
  mirror(batch.images, image_, mirrored);
  std::ranges::fill(logits_, 0.0);
  PassListener nobody;
  for (const std::span<const float> images : {batch.images, {mirrored}}) {
    network_.forward({images, batch.labels}, values, {}, nobody);
    for (std::size_t i = 0; i < batch.count * classes_; ++i) {
      logits_[i] += 0.5 * network_.logit(i / classes_, i % classes_);
    }
  }
  LossSum sum;
  for (std::size_t i = 0; i < batch.count; ++i) {
    const std::span logits = std::span(logits_).subspan(i * classes_, classes_);
    const auto label = static_cast<std::size_t>(batch.labels[i]);
    const std::size_t predicted = prediction(logits);
    sum += {cross_entropy(logits, label), predicted == label ? 1u : 0u, 1};
    matrix.add(batch.labels[i], static_cast<std::int32_t>(predicted));
  }
  return sum;
}

}  // namespace convoy
