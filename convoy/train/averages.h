// SPDX-License-Identifier: Apache-2.0
//
// Averages: averaged values and running statistics, which are evaluated and saved instead
// of the trained ones.
//
//   train.ema         exponential, after every step; the statistics are averaged too
//   train.swa_start   equal, after every epoch from that one on; the statistics are
//                     measured for the averaged values (measured_statistics.h)
//
// An exponential average stays near the values, and so do its statistics. Values that are
// many steps apart differ: the outputs of their mean vary less than the mean of their
// outputs, so averaged statistics would be wrong.

#pragma once

#include <cstddef>
#include <vector>

#include "convoy/optimizer/moving_average.h"
#include "convoy/settings/settings.h"

namespace convoy {

class Averages {
 public:
  /// Borrows the team for as long as it lives. `own` are the ranges of the values that
  /// are averaged here. Requires: ema or swa_start is set.
  Averages(const TrainSettings& settings, const Layout& layout,
           const Layout& statistics_layout, std::vector<Range> own, ThreadTeam& team);

  void after_step(const Weights& now);

  /// Adds the values to the average if the epoch is averaged. If it returns true,
  /// statistics() belong to other values and have to be measured.
  bool after_epoch(int epoch, const FlatBuffer& values);

  /// Whether anything was averaged yet.
  bool any() const { return count_ > 0; }
  Weights weights() const { return {values_.average(), statistics_.average()}; }

  /// What a checkpoint keeps: both buffers, and their number of updates.
  FlatBuffer& values() { return values_.average(); }
  FlatBuffer& statistics() { return statistics_.average(); }
  std::size_t count() const { return count_; }
  void set_count(std::size_t count) { count_ = count; }

  std::size_t bytes() const;

 private:
  void update_values(const FlatBuffer& values);

  int swa_start_;
  std::vector<Range> own_;
  MovingAverage values_, statistics_;
  std::size_t count_ = 0;
};

}  // namespace convoy
