// SPDX-License-Identifier: Apache-2.0
//
// SoftmaxLoss: softmax with cross-entropy over a network's last activation.
//
// The target of a sample is a distribution over classes: its own, if the samples have
// distributions; else 1 - s for its label and s shared by all classes alike, the label
// among them, as PyTorch's CrossEntropyLoss smooths labels by s. Distributions are
// smoothed likewise.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "convoy/network/samples.h"
#include "convoy/params/loss_sum.h"
#include "convoy/system/thread_team.h"

namespace convoy {

class SoftmaxLoss {
 public:
  /// Requires: 0 <= smoothing < 1.
  SoftmaxLoss(std::size_t most_samples, std::size_t classes, float smoothing = 0);

  /// Loss of the samples, whose logits are [pack][class][16]; remembers what backward
  /// needs.
  LossSum forward(ThreadTeam& team, const float* logits, const Samples& samples);

  /// gradient = scale * d(sum of losses) / d(logits); zero for rows beyond the samples.
  void backward(ThreadTeam& team, const float* logits, const Samples& samples,
                float scale, float* gradient) const;

  /// The class with the largest logit (the first of equals) for each sample of the last
  /// forward().
  std::span<const std::int32_t> predictions() const { return predictions_; }

 private:
  double loss_of(const float* logits, const Samples& samples, std::size_t sample) const;
  double smoothed(const float* logits, std::size_t sample, double loss) const;
  float target(const Samples& samples, std::size_t sample, std::size_t category) const;

  std::size_t classes_;
  float smoothing_;
  // By sample: the largest logit, log of the sum of exponentials relative to it, the
  // loss.
  std::vector<float> largest_, log_sums_;
  std::vector<double> losses_;
  std::vector<std::int32_t> predictions_;
  std::vector<std::size_t> larger_;  // logits, than that of the label
};

}  // namespace convoy
