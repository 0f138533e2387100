// SPDX-License-Identifier: Apache-2.0
//
// Delays that are put into a run on purpose, to see how a strategy takes slow ranks.
//
//   constant   the mean, in every step
//   gaussian   around the mean, never below 0
//   pareto     mostly below the mean, rarely far above it:
//              P(delay > x) = (least / x)^shape
//   on_off     the mean in runs of steps, nothing between them

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "convoy/base/random.h"
#include "convoy/settings/settings.h"
#include "convoy/updates/on_off_process.h"

namespace convoy {

/// How long one rank is to sleep in each step: a function of settings, seed, rank and
/// step alone, except where a slow rank without a delay is slowed by what it computed.
class Delay {
 public:
  /// Requires: valid settings.
  Delay(const InjectSettings& settings, std::uint64_t seed, int rank);

  /// Seconds to sleep in a step that took `computed` seconds so far; an hour at most.
  /// For one thread.
  double seconds(std::size_t step, double computed) const;

 private:
  double drawn(std::size_t step) const;
  double drawn_from_pareto(std::size_t step) const;

  DelayKind kind_;
  double mean_, deviation_;  // in seconds
  double shape_;             // of pareto
  double slow_down_;         // part of what was computed that is slept
  RandomStream random_;
  OnOffProcess on_off_;
};

/// Throws InputError if the rank to slow is not one of the ranks.
Delay make_delay(const Settings& settings, int rank, int ranks);

}  // namespace convoy
