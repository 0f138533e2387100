// SPDX-License-Identifier: Apache-2.0
//
// OnOffProcess: alternating periods of steps in which something is on or off.
//
// The lengths of periods are geometric: a Markov chain with two states. The random number
// of a step either determines its state, whatever the previous one was, or keeps it (or
// inverts it, if periods are shorter than two steps). So a step's state is found by going
// back to the last step that determined it: it is a function of the stream and the step
// alone.

#pragma once

#include <cstddef>
#include <optional>

#include "convoy/base/random.h"

namespace convoy {

class OnOffProcess {
 public:
  /// Mean lengths in steps. Requires: both at least 1.
  OnOffProcess(double mean_on, double mean_off, const RandomStream& random);

  /// One thread may call it: it caches the last step, so that the next one is cheap.
  bool is_on(std::size_t step) const;

 private:
  /// The step's state, if it is cached or does not depend on the previous step.
  std::optional<bool> decided(std::size_t step) const;

  struct Known {
    std::size_t step;
    bool on;
  };

  double on_first_;             // probability of being on in step 0
  double on_below_, off_from_;  // thresholds of a step's random number
  /// Whether a number between them inverts the state or keeps it.
  bool turns_;
  RandomStream random_;
  mutable std::optional<Known> known_{};
};

}  // namespace convoy
