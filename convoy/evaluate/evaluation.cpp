// SPDX-License-Identifier: Apache-2.0

#include "convoy/evaluate/evaluation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "convoy/base/error.h"

namespace convoy {
namespace {

constexpr std::size_t kMostInBatch = 256, kLeastInBatch = 16;
constexpr std::size_t kNumbersInBatch = std::size_t{1} << 22;  // but for kLeastInBatch

/// Weights add up to one.
std::vector<WeightedView> views_of(const EvaluationOptions& options) {
  std::vector<WeightedView> views = {{View{}, 1}};
  if (const int shift = options.shift; shift > 0) {
    const auto moved = [](int by) {
      return WeightedView{{.down = by, .right = by, .edges_mirror = true}, 0.25};
    };
    views = {{View{}, 0.5}, moved(shift), moved(-shift)};
  }
  if (!options.flip) return views;
  const std::size_t unmirrored = views.size();
  for (std::size_t i = 0; i < unmirrored; ++i) {
    views[i].weight /= 2;
    views.push_back(views[i]);
    views.back().view.mirrored = true;
  }
  return views;
}

/// Returns the class with the largest logit; the first of equals.
std::size_t prediction(std::span<const double> logits) {
  return static_cast<std::size_t>(std::ranges::max_element(logits) - logits.begin());
}

/// Whether the label is among the kTop largest logits; of equals, the first counts as
/// larger.
bool is_in_top(std::span<const double> logits, std::size_t label) {
  std::size_t larger = 0;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    larger += logits[i] > logits[label] || (logits[i] == logits[label] && i < label);
  }
  return larger < kTop;
}

/// Returns the softmax of one of the logits.
double probability(std::span<const double> logits, std::size_t of) {
  double sum = 0;
  for (const double logit : logits) sum += std::exp(logit - logits[of]);
  return 1 / sum;
}

double cross_entropy(std::span<const double> logits, std::size_t label) {
  const double largest = std::ranges::max(logits);
  double sum = 0;
  for (const double logit : logits) sum += std::exp(logit - largest);
  return std::log(sum) + largest - logits[label];
}

NetworkOptions evaluating(NetworkOptions options, std::size_t batch_size,
                          const FlatBuffer& statistics) {
  options.most_samples = batch_size;
  options.training = false;
  options.label_smoothing = 0;
  options.statistics = &statistics;
  return options;
}

}  // namespace

std::size_t evaluation_batch_size(Shape image, std::size_t classes) {
  const std::size_t fitting = kNumbersInBatch / std::max(image.size(), classes);
  return std::clamp(fitting / kLeastInBatch * kLeastInBatch, kLeastInBatch, kMostInBatch);
}

Evaluator::Evaluator(const Model& model, const Layout& layout,
                     const EvaluationOptions& options, ThreadTeam& team)
    : statistics_(build_statistics_layout(model)),
      image_(model.input),
      classes_(static_cast<std::size_t>(class_count(model))),
      batch_size_(evaluation_batch_size(image_, classes_)),
      network_(model, layout, evaluating(options.network, batch_size_, statistics_),
               team),
      views_(views_of(options)),
      keep_predictions_(options.predictions),
      seen_(views_.size() > 1 ? batch_size_ * image_.size() : 0),
      logits_(batch_size_ * classes_),
      predictions_(batch_size_) {}

std::size_t EvaluationSet::batches() const {
  return (samples.size() + batch_size() - 1) / batch_size();
}

Range EvaluationSet::samples_of(Range of_batches) const {
  return {std::min(samples.size(), of_batches.begin * batch_size()),
          std::min(samples.size(), of_batches.end * batch_size())};
}

void count_left_out(const EvaluationSet& set, EvaluationResult& result) {
  result.left_out = set.samples.size() - result.sum.samples;
  if (result.sum.samples > 0 || set.samples.empty()) return;
  throw InputError(InputKind::data, {.where = "images of " + set.data.name,
                                     .found = "none that can be decoded",
                                     .expected = "at least one",
                                     .hint = ""});
}

EvaluationSet all_of(const Dataset& data, const Normalization& normalization) {
  std::vector<std::uint32_t> all(data.size());
  std::iota(all.begin(), all.end(), 0u);
  return {data, std::move(all), normalization};
}

std::size_t Evaluator::bytes() const {
  return network_.arena_bytes() + seen_.size() * sizeof(float) +
         logits_.size() * sizeof(double);
}

EvaluationResult Evaluator::run(const EvaluationSet& set, const Weights& weights) {
  EvaluationPart whole = run_part(set, {0, set.batches()}, weights);
  EvaluationResult result{.sum = {},
                          .matrix = std::move(whole.matrix),
                          .predictions = std::move(whole.predictions),
                          .batches = std::move(whole.batches)};
  for (const LossSum& batch : result.batches) result.sum += batch;
  result.shares = {result.sum};
  count_left_out(set, result);
  return result;
}

EvaluationPart Evaluator::run_part(const EvaluationSet& set, Range batches,
                                   const Weights& weights, PassListener& listener,
                                   std::size_t most_batches) {
  check(set.input() == image_ && set.data.classes.size() == classes_,
        "a set is of the model's images and classes");
  std::ranges::copy(weights.statistics.numbers(), statistics_.data());
  EvaluationPart part{.batches = {}, .matrix = ConfusionMatrix(set.data.classes)};
  const Values values{weights.values, listener};
  if (batches.size() > 0) run_batches(set, batches, values, part);
  for (std::size_t i = batches.size() * views_.size(); i < most_batches * views_.size();
       ++i) {
    network_.forward({}, weights.values, {}, listener);
  }
  return part;
}

void Evaluator::run_batches(const EvaluationSet& set, Range batches, const Values& values,
                            EvaluationPart& part) {
  const Range range = set.samples_of(batches);
  const std::span samples = std::span(set.samples).subspan(range.begin, range.size());
  Loader loader(set.data, {samples.begin(), samples.end()},
                {.batch_size = batch_size_,
                 .shuffle = false,
                 .normalization = set.normalization,
                 .image = image_,
                 .damaged = DamagedSample::left_out});
  loader.start_epoch(0);
  SampleImages images(set.data, set.normalization, image_);
  while (const Batch* batch = loader.next()) {
    part.batches.push_back(views_.size() > 1 ? mean_of_views(*batch, images, values)
                                             : plain(*batch, values));
    note(*batch, part);
  }
}

LossSum Evaluator::plain(const Batch& batch, const Values& values) {
  const LossSum sum =
      network_.forward({batch.images, batch.labels}, values.numbers, {}, values.listener);
  std::ranges::fill(logits_, 0.0);
  add_logits(batch.count, 1);
  std::ranges::copy(network_.predictions().first(batch.count), predictions_.begin());
  return sum;
}

LossSum Evaluator::mean_of_views(const Batch& batch, SampleImages& images,
                                 const Values& values) {
  const std::span seen = std::span(seen_).first(batch.images.size());
  std::ranges::fill(logits_, 0.0);
  for (const auto& [view, weight] : views_) {
    for (std::size_t i = 0; i < batch.count && view != View{}; ++i) {
      images.write(batch.samples[i], view, seen.data() + i * image_.size());
    }
    const std::span<const float> shown = view == View{} ? batch.images : seen;
    network_.forward({shown, batch.labels}, values.numbers, {}, values.listener);
    add_logits(batch.count, weight);
  }
  LossSum sum;
  for (std::size_t i = 0; i < batch.count; ++i) {
    const auto label = static_cast<std::size_t>(batch.labels[i]);
    const std::size_t predicted = prediction(logits_of(i));
    sum += {.loss = cross_entropy(logits_of(i), label),
            .correct = predicted == label ? 1u : 0u,
            .samples = 1,
            .in_top = is_in_top(logits_of(i), label) ? 1u : 0u};
    predictions_[i] = static_cast<std::int32_t>(predicted);
  }
  return sum;
}

void Evaluator::add_logits(std::size_t samples, double factor) {
  for (std::size_t i = 0; i < samples * classes_; ++i) {
    logits_[i] += factor * network_.logit(i / classes_, i % classes_);
  }
}

std::span<const double> Evaluator::logits_of(std::size_t sample) const {
  return std::span(logits_).subspan(sample * classes_, classes_);
}

/// Counts the predictions of the last batch.
void Evaluator::note(const Batch& batch, EvaluationPart& part) const {
  for (std::size_t i = 0; i < batch.count; ++i) {
    const std::int32_t truth = batch.labels[i], predicted = predictions_[i];
    part.matrix.add(truth, predicted);
    if (!keep_predictions_) continue;
    const double confidence =
        probability(logits_of(i), static_cast<std::size_t>(predicted));
    part.predictions.push_back(
        {batch.samples[i], truth, predicted, static_cast<float>(confidence)});
  }
}

}  // namespace convoy
