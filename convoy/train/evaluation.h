// SPDX-License-Identifier: Apache-2.0
//
// Evaluation: a network's loss and predictions over a whole set, each sample exactly
// once.

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

  /// Evaluates the given samples of a dataset.
  EvaluationResult run(const Dataset& data, const std::vector<std::uint32_t>& samples,
                       const Normalization& normalization, const Weights& weights);

  /// Evaluates all of a dataset.
  EvaluationResult run(const Dataset& data, const Normalization& normalization,
                       const Weights& weights);

  std::size_t arena_bytes() const { return network_.arena_bytes(); }

 private:
  void add(const Batch& batch, const FlatBuffer& values, EvaluationResult& result);
  void add_flipped(const Batch& batch, const FlatBuffer& values,
                   EvaluationResult& result);

  FlatBuffer statistics_;  // a copy of those at work, for the network
  Network network_;
  Shape image_;
  std::size_t classes_;
  bool flip_;
  std::vector<float> mirrored_;  // a batch of images
  std::vector<double> logits_;   // [sample][class]
};

}  // namespace convoy
