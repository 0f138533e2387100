// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/loss.h"

#include <algorithm>
#include <cmath>

namespace convoy {

SoftmaxLoss::SoftmaxLoss(const StageContext& context, float smoothing)
    : classes_(context.src.size()),
      smoothing_(smoothing),
      largest_(context.most_packs * kPack),
      log_sums_(context.most_packs * kPack),
      losses_(context.most_packs * kPack),
      predictions_(context.most_packs * kPack) {}

LossSum SoftmaxLoss::forward(const Pass& pass, const float* logits,
                             std::span<const std::int32_t> labels) {
  pass.team.run(pass.packs, [&](std::size_t pack, int) {
    const std::size_t last = std::min(labels.size(), (pack + 1) * kPack);
    for (std::size_t n = pack * kPack; n < last; ++n) {
      const float* of_image = logits + pack * classes_ * kPack + n % kPack;
      std::size_t best = 0;
      for (std::size_t c = 1; c < classes_; ++c) {
        if (of_image[c * kPack] > of_image[best * kPack]) best = c;
      }
      float sum = 0;
      for (std::size_t c = 0; c < classes_; ++c) {
        sum += std::exp(of_image[c * kPack] - of_image[best * kPack]);
      }
      largest_[n] = of_image[best * kPack];
      log_sums_[n] = std::log(sum);
      // The difference of two large logits is exact enough; the sum of a large one and a
      // small logarithm would not be.
      losses_[n] = log_sums_[n] -
                   (of_image[static_cast<std::size_t>(labels[n]) * kPack] - largest_[n]);
      if (smoothing_ > 0) losses_[n] = smoothed(of_image, n, losses_[n]);
      predictions_[n] = static_cast<std::int32_t>(best);
    }
  });
  LossSum result{.samples = labels.size()};
  for (std::size_t n = 0; n < labels.size(); ++n) {
    result.loss += losses_[n];
    result.correct += predictions_[n] == labels[n] ? 1 : 0;
  }
  return result;
}

/// The loss of an image whose loss without smoothing is `loss`.
double SoftmaxLoss::smoothed(const float* of_image, std::size_t image,
                             double loss) const {
  double below_largest = 0;
  for (std::size_t c = 0; c < classes_; ++c) {
    below_largest += largest_[image] - of_image[c * kPack];
  }
  const double of_all = log_sums_[image] + below_largest / static_cast<double>(classes_);
  return (1 - smoothing_) * loss + smoothing_ * of_all;
}

void SoftmaxLoss::backward(const Pass& pass, const float* logits,
                           std::span<const std::int32_t> labels, float scale,
                           float* gradient) const {
  const float of_each = smoothing_ / static_cast<float>(classes_);
  const float of_label = 1 - smoothing_ + of_each;
  pass.team.run(pass.packs, [&](std::size_t pack, int) {
    std::fill_n(gradient + pack * classes_ * kPack, classes_ * kPack, 0.0f);
    const std::size_t last = std::min(labels.size(), (pack + 1) * kPack);
    for (std::size_t n = pack * kPack; n < last; ++n) {
      const std::size_t image = pack * classes_ * kPack + n % kPack;
      for (std::size_t c = 0; c < classes_; ++c) {
        const std::size_t i = image + c * kPack;
        const float target =
            static_cast<std::size_t>(labels[n]) == c ? of_label : of_each;
        gradient[i] = scale * (std::exp(logits[i] - largest_[n] - log_sums_[n]) - target);
      }
    }
  });
}

}  // namespace convoy
