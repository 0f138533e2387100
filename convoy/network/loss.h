// SPDX-License-Identifier: Apache-2.0
//
// SoftmaxLoss: softmax with cross-entropy over a network's last activation.
//
// With smoothing s the target of a sample is 1 - s for its label and s shared by all
// classes alike, the label among them, as in PyTorch's CrossEntropyLoss.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "convoy/network/stage.h"
#include "convoy/params/loss_sum.h"

namespace convoy {

class SoftmaxLoss {
 public:
  /// Requires: 0 <= smoothing < 1.
  explicit SoftmaxLoss(const StageContext& context, float smoothing = 0);

  /// Loss of the samples whose labels are given; remembers what backward needs.
  LossSum forward(const Pass& pass, const float* logits,
                  std::span<const std::int32_t> labels);

  /// gradient = scale * d(sum of losses) / d(logits); zero for images beyond the labels.
  void backward(const Pass& pass, const float* logits,
                std::span<const std::int32_t> labels, float scale, float* gradient) const;

  /// The class with the largest logit (the first of equals) for each sample of the last
  /// forward().
  std::span<const std::int32_t> predictions() const { return predictions_; }

 private:
  double smoothed(const float* of_image, std::size_t image, double loss) const;

  std::size_t classes_;
  float smoothing_;
  // By image: the largest logit, log of the sum of exponentials relative to it, the loss.
  std::vector<float> largest_, log_sums_;
  std::vector<double> losses_;
  std::vector<std::int32_t> predictions_;
};

}  // namespace convoy
