// SPDX-License-Identifier: Apache-2.0

#include "convoy/optimizer/adam.h"

#include <cmath>

namespace convoy {

/// `decay` is the weight decay, or the factor by which AdamW multiplies values.
template <bool kDecoupled>
void Adam::update_elements(const Factors& factors, float decay, std::size_t count,
                           const float* __restrict gradients, float scale,
                           float* __restrict means, float* __restrict squares,
                           float* __restrict values) {
  const auto [beta1, rest1, beta2, rest2, rate, root, eps] = factors;
  for (std::size_t i = 0; i < count; ++i) {
    const float value = kDecoupled ? decay * values[i] : values[i];
    const float d =
        kDecoupled ? scale * gradients[i] : scale * gradients[i] + decay * value;
    const float mean = beta1 * means[i] + rest1 * d;
    const float square = beta2 * squares[i] + rest2 * d * d;
    means[i] = mean;
    squares[i] = square;
    values[i] = value - rate * mean / (std::sqrt(square) / root + eps);
  }
}

Adam::Adam(const Layout& layout, const AdamOptions& options, ThreadTeam& team)
    : options_(options),
      groups_(layout, options.parameters),
      mean_(layout),
      square_(layout),
      team_(team) {}

void Adam::start_step(std::size_t step, const StepRates& rates) {
  const double number = static_cast<double>(step) + 1;
  const double beta1 = rates.momentum, beta2 = options_.beta2;
  rate_ = rates.rate;
  factors_ = {
      .beta1 = static_cast<float>(beta1),
      .rest1 = static_cast<float>(1 - beta1),
      .beta2 = static_cast<float>(beta2),
      .rest2 = static_cast<float>(1 - beta2),
      .rate = static_cast<float>(rates.rate / (1 - std::pow(beta1, number))),
      .root = static_cast<float>(std::sqrt(1 - std::pow(beta2, number))),
      .eps = static_cast<float>(options_.eps),
  };
}

void Adam::update(Range range, FlatBuffer& values, const ScaledGradients& gradients) {
  const bool decoupled = options_.decoupled;
  const auto kernel = decoupled ? update_elements<true> : update_elements<false>;
  run_chunks(team_, range, [&](Range chunk) {
    groups_.visit(chunk, [&](Range part, const GroupOptions& options) {
      const auto decay = static_cast<double>(options.weight_decay);
      const double kept = 1 - rate_ * options.rate_factor * decay;
      Factors factors = factors_;
      factors.rate *= options.rate_factor;
      kernel(factors, decoupled ? static_cast<float>(kept) : options.weight_decay,
             part.size(), gradients.at(part), gradients.scale, mean_.data() + part.begin,
             square_.data() + part.begin, values.data() + part.begin);
    });
  });
}

}  // namespace convoy
