// SPDX-License-Identifier: Apache-2.0
//
// SweepValues: the values that a setting takes in a sweep, in Hydra's grammar.
//
//   0.1,0.2,0.3                  a list
//   range(1,4)                   1, 2, 3; steps may be fractions: range(0.1,0.4,0.1)
//   choice(sgd,adam)             the same as a list
//   glob(resnet*)                all names of the group that match; exclude=PATTERN
//   interval(0.1,1)              any number between, for random sweeps
//   log_interval(1e-4,1e-1)      the same, evenly over its logarithm; also written as
//   tag(log, interval(...))      in Hydra
//   [10,20],[20,30]              values of a setting that is itself a list
//   'a,b' or "a,b"               a text as it stands
//
// Lists, ranges, choices and globs can be joined by commas.

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace convoy {

/// Numbers to draw from.
struct Interval {
  double low = 0, high = 1;
  bool log = false;    // evenly over the logarithm
  bool whole = false;  // whole numbers, both ends included
};

struct SweepValues {
  std::vector<std::string> values;   // in order
  std::optional<Interval> interval;  // instead of values
  bool swept = false;                // whether it is more than one plain value
};

/// What is known of the setting.
struct SweptSetting {
  std::string where;                 // "command line: optimizer.lr"
  bool whole = false;                // its values are whole numbers
  std::vector<std::string> names{};  // that glob() chooses from
  std::size_t most_values = 10'000;
};

/// Throws InputError of kind `settings` for a text that is not in the grammar, has no
/// value or has one twice.
SweepValues parse_sweep_values(std::string_view text, const SweptSetting& setting);

}  // namespace convoy
