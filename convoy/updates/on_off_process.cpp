// SPDX-License-Identifier: Apache-2.0

#include "convoy/updates/on_off_process.h"

#include <algorithm>

#include "convoy/base/error.h"

namespace convoy {

// The probability to be on after an off step is 1 / mean_off, after an on step 1 - 1 /
// mean_on.
OnOffProcess::OnOffProcess(double mean_on, double mean_off, const RandomStream& random)
    : on_first_(mean_on / (mean_on + mean_off)),
      on_below_(std::min(1 / mean_off, 1 - 1 / mean_on)),
      off_from_(std::max(1 / mean_off, 1 - 1 / mean_on)),
      turns_(1 / mean_off > 1 - 1 / mean_on),
      random_(random) {
  check(mean_on >= 1 && mean_off >= 1, "mean lengths are at least one step");
}

bool OnOffProcess::is_on(std::size_t step) const {
  std::size_t at = step;
  bool turned = false;
  std::optional<bool> state = decided(at);
  while (!state) {
    turned ^= turns_;
    state = decided(--at);
  }
  known_ = {step, *state != turned};
  return known_->on;
}

std::optional<bool> OnOffProcess::decided(std::size_t step) const {
  if (known_ && known_->step == step) return known_->on;
  const double number = random_.fraction(step);
  if (step == 0) return number < on_first_;
  if (number < on_below_) return true;
  if (number >= off_from_) return false;
  return std::nullopt;
}

}  // namespace convoy
