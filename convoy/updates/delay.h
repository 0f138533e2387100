// SPDX-License-Identifier: Apache-2.0
//
// Delay: delays that are injected into a run on purpose, to study strategies with slow
// ranks.
//
//   constant   the mean delay, in every step
//   gaussian   around the mean, never below 0
//   pareto     mostly below the mean, rarely far above it:
//              P(delay > x) = (least / x)^shape
//   on_off     the mean delay in bursts of steps, no delay between them

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "convoy/base/random.h"
#include "convoy/settings/settings.h"
#include "convoy/updates/on_off_process.h"

namespace convoy {

/// The delay of one rank in each step: a function of settings, seed, rank and step alone,
/// except if a slow rank without a delay is slowed in proportion to its compute time.
class Delay {
 public:
  /// Requires: valid settings.
  Delay(const InjectSettings& settings, std::uint64_t seed, int rank);

  /// Seconds to sleep in a step that has computed for `computed` seconds; an hour at
  /// most. One thread may call it.
  double seconds(std::size_t step, double computed) const;

 private:
  double drawn(std::size_t step) const;
  double drawn_from_pareto(std::size_t step) const;

  DelayKind kind_;
  double mean_, deviation_;  // in seconds
  double shape_;             // of pareto
  double slow_down_;         // fraction of the compute time that is slept
  RandomStream random_;
  OnOffProcess on_off_;
};

/// Throws InputError if inject.slow_rank is not one of the ranks.
Delay make_delay(const Settings& settings, int rank, int ranks);

}  // namespace convoy
