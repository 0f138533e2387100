// SPDX-License-Identifier: Apache-2.0
//
// LossSum: the loss and correct predictions of some samples. Micro-batches, workers and
// ranks add theirs up.

#pragma once

#include <cstddef>

namespace convoy {

/// Sums over samples; integers are exact.
struct LossSum {
  double loss = 0;
  std::size_t correct = 0;
  std::size_t samples = 0;

  bool operator==(const LossSum&) const = default;

  LossSum& operator+=(const LossSum& other) {
    loss += other.loss;
    correct += other.correct;
    samples += other.samples;
    return *this;
  }

  double mean_loss() const {
    return samples == 0 ? 0 : loss / static_cast<double>(samples);
  }
  double accuracy() const {
    return samples == 0 ? 0 : static_cast<double>(correct) / static_cast<double>(samples);
  }
};

}  // namespace convoy
