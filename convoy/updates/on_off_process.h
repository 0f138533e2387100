// SPDX-License-Identifier: Apache-2.0
//
// OnOffProcess: steps in which something is on, and steps in which it is off, in turn.
//
// Lengths of spells are geometric: a chain of two states. What a step draws either
// decides its state, whatever the one before was, or leaves it (or turns it round, where
// spells are shorter than two steps). So a step's state is found by going back to the
// last step that decided: a function of the stream and the step alone.

#pragma once

#include <cstddef>
#include <optional>

#include "convoy/base/random.h"

namespace convoy {

class OnOffProcess {
 public:
  /// Means of lengths in steps. Requires: both at least 1.
  OnOffProcess(double mean_on, double mean_off, const RandomStream& random);

  /// For one thread: it remembers the last step asked for, so that the next is near.
  bool is_on(std::size_t step) const;

 private:
  /// The step's state, if it is known or does not depend on the step before.
  std::optional<bool> decided(std::size_t step) const;

  struct Known {
    std::size_t step;
    bool on;
  };

  double on_first_;             // probability of being on in step 0
  double on_below_, off_from_;  // what a step's number from 0 to 1 decides
  bool turns_;                  // and what one between does: turn, or keep the state
  RandomStream random_;
  mutable std::optional<Known> known_{};
};

}  // namespace convoy
