// SPDX-License-Identifier: Apache-2.0

#include "convoy/optimizer/plateau.h"

#include <algorithm>

namespace convoy {
namespace {

constexpr double kLeastChange = 1e-8;  // smaller changes of the rate are not made

}  // namespace

bool Plateau::is_better(double metric) const {
  if (!state_.best) return true;
  return options_.higher_better ? metric > *state_.best * (1 + options_.threshold)
                                : metric < *state_.best * (1 - options_.threshold);
}

void Plateau::take_in(double metric) {
  if (is_better(metric)) {
    state_.best = metric;
    state_.without_better = 0;
  } else {
    ++state_.without_better;
  }
  if (state_.cooling > 0) {
    --state_.cooling;
    state_.without_better = 0;
  }
  if (state_.without_better <= options_.patience) return;
  lower_rate();
  state_.cooling = options_.cooldown;
  state_.without_better = 0;
}

void Plateau::lower_rate() {
  const double before = options_.rate * state_.factor;
  const double after = std::max(before * options_.gamma, options_.min_rate);
  if (before - after > kLeastChange) state_.factor = after / options_.rate;
}

}  // namespace convoy
