// SPDX-License-Identifier: Apache-2.0
//
// Delays that are put into a run on purpose, to see how a strategy takes slow ranks.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "convoy/base/random.h"
#include "convoy/train/settings.h"

namespace convoy {

/// Milliseconds of "none", "small", "medium", "long", or a number from 0 to 60000.
/// Nothing for any other text.
std::optional<double> delay_milliseconds(std::string_view text);

/// How long one rank is to sleep in each step: a function of settings, seed, rank and
/// step alone, except where a slow rank without a delay is slowed by what it computed.
class Delay {
 public:
  /// Requires: valid settings.
  Delay(const InjectSettings& settings, std::uint64_t seed, int rank);

  /// Seconds to sleep in a step that took `computed` seconds so far.
  double seconds(std::size_t step, double computed) const;

 private:
  double mean_, deviation_;  // in seconds
  double slow_down_;         // part of what was computed that is slept
  RandomStream random_;
};

}  // namespace convoy
