// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/loss.h"

#include <algorithm>
#include <cmath>

#include "convoy/base/range.h"
#include "convoy/network/kernels/kernels.h"

namespace convoy {
namespace {

/// How many logits of a sample are larger than one of them; of equals, the first counts
/// as larger.
std::size_t count_larger(const float* logits, std::size_t classes, std::size_t than) {
  const float logit = logits[than * kPack];
  std::size_t larger = 0;
  for (std::size_t c = 0; c < classes; ++c) {
    larger += logits[c * kPack] > logit || (logits[c * kPack] == logit && c < than);
  }
  return larger;
}

}  // namespace

SoftmaxLoss::SoftmaxLoss(std::size_t most_samples, std::size_t classes, float smoothing)
    : classes_(classes),
      smoothing_(smoothing),
      largest_(most_samples),
      log_sums_(most_samples),
      losses_(most_samples),
      predictions_(most_samples),
      larger_(most_samples) {}

LossSum SoftmaxLoss::forward(ThreadTeam& team, const float* logits,
                             const Samples& samples) {
  const std::size_t count = samples.count();
  team.run(round_up(count, kPack) / kPack, [&](std::size_t pack, int) {
    for (std::size_t n = pack * kPack; n < std::min(count, (pack + 1) * kPack); ++n) {
      const float* own = logits + pack * classes_ * kPack + n % kPack;
      std::size_t best = 0;
      for (std::size_t c = 1; c < classes_; ++c) {
        if (own[c * kPack] > own[best * kPack]) best = c;
      }
      float sum = 0;
      for (std::size_t c = 0; c < classes_; ++c) {
        sum += std::exp(own[c * kPack] - own[best * kPack]);
      }
      largest_[n] = own[best * kPack];
      log_sums_[n] = std::log(sum);
      losses_[n] = loss_of(own, samples, n);
      predictions_[n] = static_cast<std::int32_t>(best);
      larger_[n] =
          count_larger(own, classes_, static_cast<std::size_t>(samples.labels[n]));
    }
  });
  LossSum result{.samples = count};
  for (std::size_t n = 0; n < count; ++n) {
    result.loss += losses_[n];
    result.correct += predictions_[n] == samples.labels[n] ? 1 : 0;
    result.in_top += larger_[n] < kTop ? 1 : 0;
  }
  return result;
}

double SoftmaxLoss::loss_of(const float* logits, const Samples& samples,
                            std::size_t sample) const {
  // The difference of two large logits is exact enough; the sum of a large one and a
  // small logarithm would not be.
  const auto loss_of_class = [&](std::size_t category) {
    return log_sums_[sample] - (logits[category * kPack] - largest_[sample]);
  };
  double loss = 0;
  if (samples.distributions.empty()) {
    loss = loss_of_class(static_cast<std::size_t>(samples.labels[sample]));
  } else {
    for (std::size_t c = 0; c < classes_; ++c) {
      loss += static_cast<double>(samples.distributions[sample * classes_ + c]) *
              static_cast<double>(loss_of_class(c));
    }
  }
  return smoothing_ > 0 ? smoothed(logits, sample, loss) : loss;
}

/// The loss of a sample whose loss without smoothing is `loss`.
double SoftmaxLoss::smoothed(const float* logits, std::size_t sample, double loss) const {
  double below_largest = 0;
  for (std::size_t c = 0; c < classes_; ++c) {
    below_largest += largest_[sample] - logits[c * kPack];
  }
  const double of_all = log_sums_[sample] + below_largest / static_cast<double>(classes_);
  return (1 - smoothing_) * loss + smoothing_ * of_all;
}

float SoftmaxLoss::target(const Samples& samples, std::size_t sample,
                          std::size_t category) const {
  const float of_each = smoothing_ / static_cast<float>(classes_);
  if (!samples.distributions.empty()) {
    return (1 - smoothing_) * samples.distributions[sample * classes_ + category] +
           of_each;
  }
  const bool label = static_cast<std::size_t>(samples.labels[sample]) == category;
  return label ? 1 - smoothing_ + of_each : of_each;
}

void SoftmaxLoss::backward(ThreadTeam& team, const float* logits, const Samples& samples,
                           float scale, float* gradient) const {
  const std::size_t count = samples.count();
  team.run(round_up(count, kPack) / kPack, [&](std::size_t pack, int) {
    std::fill_n(gradient + pack * classes_ * kPack, classes_ * kPack, 0.0f);
    for (std::size_t n = pack * kPack; n < std::min(count, (pack + 1) * kPack); ++n) {
      const std::size_t first = pack * classes_ * kPack + n % kPack;
      for (std::size_t c = 0; c < classes_; ++c) {
        const std::size_t i = first + c * kPack;
        gradient[i] = scale * (std::exp(logits[i] - largest_[n] - log_sums_[n]) -
                               target(samples, n, c));
      }
    }
  });
}

}  // namespace convoy
