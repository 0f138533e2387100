// SPDX-License-Identifier: Apache-2.0
//
// Evaluation: a network's loss and predictions over a whole set, each sample exactly
// once.

#pragma once

#include <cstdint>
#include <vector>

#include "convoy/base/thread_team.h"
#include "convoy/data/dataset.h"
#include "convoy/loader/normalization.h"
#include "convoy/network/network.h"
#include "convoy/report/classification.h"

namespace convoy {

struct EvaluationResult {
  LossSum sum;
  ConfusionMatrix matrix;
};

class Evaluator {
 public:
  /// Borrows everything but options for as long as it lives. The options say how to
  /// compute; how many samples at once is the evaluator's own.
  Evaluator(const Model& model, const Layout& layout, const NetworkOptions& options,
            ThreadTeam& team);

  /// Evaluates the given samples of a dataset.
  EvaluationResult run(const Dataset& data, const std::vector<std::uint32_t>& samples,
                       const Normalization& normalization, const FlatBuffer& values);

  /// Evaluates all of a dataset.
  EvaluationResult run(const Dataset& data, const Normalization& normalization,
                       const FlatBuffer& values);

  std::size_t arena_bytes() const { return network_.arena_bytes(); }

 private:
  Network network_;
};

}  // namespace convoy
