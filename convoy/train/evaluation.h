// SPDX-License-Identifier: Apache-2.0
//
// Evaluation: a network's loss and predictions over a whole set, each sample exactly
// once.
//
// A set is a row of batches. Their losses are added in that order, so that it does not
// matter who evaluated which of them.

#pragma once

#include <cstdint>
#include <vector>

#include "convoy/base/thread_team.h"
#include "convoy/data/dataset.h"
#include "convoy/loader/loader.h"
#include "convoy/network/network.h"
#include "convoy/report/classification.h"

namespace convoy {

struct EvaluationResult {
  LossSum sum;
  ConfusionMatrix matrix;
};

/// What some of a set's batches gave.
struct EvaluationPart {
  std::vector<LossSum> batches;  // batch after batch
  ConfusionMatrix matrix;
};

/// What is evaluated: samples of a dataset, normalised, in batches of a fixed size.
struct EvaluationSet {
  const Dataset& data;
  std::vector<std::uint32_t> samples;
  Normalization normalization;

  std::size_t batches() const;
};

/// All samples of a dataset.
EvaluationSet all_of(const Dataset& data, const Normalization& normalization);

struct EvaluationOptions {
  bool flip = false;  // logits are the mean of those of an image and its mirror image
  /// How to compute; how many samples at once is the evaluator's own.
  NetworkOptions network{};
};

class Evaluator {
 public:
  /// Borrows everything but options for as long as it lives.
  Evaluator(const Model& model, const Layout& layout, const EvaluationOptions& options,
            ThreadTeam& team);

  EvaluationResult run(const EvaluationSet& set, const Weights& weights);

  /// Only some of the set's batches, by number.
  EvaluationPart run_part(const EvaluationSet& set, Range batches,
                          const Weights& weights);

  std::size_t arena_bytes() const { return network_.arena_bytes(); }

 private:
  LossSum plain(const Batch& batch, const FlatBuffer& values, ConfusionMatrix& matrix);
  LossSum flipped(const Batch& batch, const FlatBuffer& values, ConfusionMatrix& matrix);

  FlatBuffer statistics_;  // a copy of those at work, for the network
  Network network_;
  Shape image_;
  std::size_t classes_;
  bool flip_;
  std::vector<float> mirrored_;  // a batch of images
  std::vector<double> logits_;   // [sample][class]
};

}  // namespace convoy
