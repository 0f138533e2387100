// SPDX-License-Identifier: Apache-2.0

#include "convoy/optimizer/early_stop.h"

namespace convoy {

bool EarlyStop::is_better(double metric) const {
  if (!state_.best) return true;
  return options_.higher_better ? metric > *state_.best + options_.min_delta
                                : metric < *state_.best - options_.min_delta;
}

void EarlyStop::take_in(double metric, int epoch) {
  if (is_better(metric)) {
    state_ = {.best = metric, .best_epoch = epoch};
  } else {
    ++state_.without_better;
  }
}

}  // namespace convoy
