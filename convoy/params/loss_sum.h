// SPDX-License-Identifier: Apache-2.0
//
// LossSum: the loss and correct predictions of some samples. Micro-batches, workers and
// ranks add theirs up.

#pragma once

#include <cstddef>

namespace convoy {

/// The k of top-k accuracy.
inline constexpr std::size_t kTop = 5;

/// Sums over samples; integers are exact.
struct LossSum {
  double loss = 0;
  std::size_t correct = 0;
  std::size_t samples = 0;
  std::size_t in_top = 0;  // label among the kTop largest logits

  bool operator==(const LossSum&) const = default;

  LossSum& operator+=(const LossSum& other) {
    loss += other.loss;
    correct += other.correct;
    samples += other.samples;
    in_top += other.in_top;
    return *this;
  }

  double mean_loss() const {
    return samples == 0 ? 0 : loss / static_cast<double>(samples);
  }
  double accuracy() const { return of_samples(correct); }
  double top_accuracy() const { return of_samples(in_top); }

 private:
  double of_samples(std::size_t count) const {
    return samples == 0 ? 0 : static_cast<double>(count) / static_cast<double>(samples);
  }
};

}  // namespace convoy
