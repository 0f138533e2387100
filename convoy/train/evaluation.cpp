// SPDX-License-Identifier: Apache-2.0

#include "convoy/train/evaluation.h"

#include <numeric>

#include "convoy/loader/loader.h"

namespace convoy {
namespace {

constexpr std::size_t kBatch = 256;

NetworkOptions evaluating(NetworkOptions options) {
  options.most_samples = kBatch;
  options.training = false;
  return options;
}

}  // namespace

Evaluator::Evaluator(const Model& model, const Layout& layout,
                     const NetworkOptions& options, ThreadTeam& team)
    : network_(model, layout, evaluating(options), team) {}

EvaluationResult Evaluator::run(const Dataset& data,
                                const std::vector<std::uint32_t>& samples,
                                const Normalization& normalization,
                                const FlatBuffer& values) {
  EvaluationResult result{.sum = {}, .matrix = ConfusionMatrix(data.classes)};
  Loader loader(data, samples,
                {.batch_size = kBatch, .shuffle = false, .normalization = normalization});
  PassListener nobody;
  loader.start_epoch(0);
  while (const Batch* batch = loader.next()) {
    result.sum += network_.forward({batch->images, batch->labels}, values, {}, nobody);
    const std::span<const std::int32_t> predictions = network_.predictions();
    for (std::size_t i = 0; i < batch->count; ++i) {
      result.matrix.add(batch->labels[i], predictions[i]);
    }
  }
  return result;
}

EvaluationResult Evaluator::run(const Dataset& data, const Normalization& normalization,
                                const FlatBuffer& values) {
  std::vector<std::uint32_t> all(data.size());
  std::iota(all.begin(), all.end(), 0u);
  return run(data, all, normalization, values);
}

}  // namespace convoy
