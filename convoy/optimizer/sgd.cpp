// SPDX-License-Identifier: Apache-2.0

#include "convoy/optimizer/sgd.h"

namespace convoy {
namespace {

/// The coefficients with which all elements of a group are updated.
struct Factors {
  float rate, momentum, weight_decay, scale;
};

template <bool kNesterov>
void update_elements(const Factors& factors, std::size_t count,
                     const float* __restrict gradients, float* __restrict velocities,
                     float* __restrict values) {
  const auto [rate, momentum, weight_decay, scale] = factors;
  for (std::size_t i = 0; i < count; ++i) {
    const float d = scale * gradients[i] + weight_decay * values[i];
    const float velocity = momentum * velocities[i] + d;
    velocities[i] = velocity;
    values[i] -= rate * (kNesterov ? d + momentum * velocity : velocity);
  }
}

}  // namespace

Sgd::Sgd(const Layout& layout, const SgdOptions& options, ThreadTeam& team)
    : options_(options),
      groups_(layout, options.parameters),
      velocity_(layout),
      team_(team) {}

void Sgd::start_step(std::size_t, const StepRates& rates) {
  options_.rate = static_cast<float>(rates.rate);
  options_.momentum = static_cast<float>(rates.momentum);
}

void Sgd::update(Range range, FlatBuffer& values, const ScaledGradients& gradients) {
  const auto kernel = options_.nesterov ? update_elements<true> : update_elements<false>;
  run_chunks(team_, range, [&](Range chunk) {
    groups_.visit(chunk, [&](Range part, const GroupOptions& options) {
      const Factors factors = {options_.rate * options.rate_factor, options_.momentum,
                               options.weight_decay, gradients.scale};
      kernel(factors, part.size(), gradients.at(part), velocity_.data() + part.begin,
             values.data() + part.begin);
    });
  });
}

}  // namespace convoy
