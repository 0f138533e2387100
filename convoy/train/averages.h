// SPDX-License-Identifier: Apache-2.0
//
// Averages: values and running statistics that are evaluated and saved instead of those
// at work.
//
//   train.ema         exponential, after every step; the statistics are averaged alike
//   train.swa_start   equal, after every epoch from that one on; the statistics are
//                     measured for the averaged values (measured_statistics.h)
//
// An exponential average stays near the values, and so do its statistics. Values many
// steps apart are not alike: what their mean computes varies less than the mean of what
// each of them computes, so that averaged statistics would be wrong.

#pragma once

#include <cstddef>

#include "convoy/optimizer/moving_average.h"
#include "convoy/settings/settings.h"

namespace convoy {

class Averages {
 public:
  /// Borrows the team for as long as it lives. Requires: ema or swa_start is set.
  Averages(const TrainSettings& settings, const Layout& layout,
           const Layout& statistics_layout, ThreadTeam& team);

  void after_step(const Weights& now);

  /// Whether the average now has these values in it. Then statistics() are those of
  /// other values, and to be measured.
  bool after_epoch(int epoch, const FlatBuffer& values);

  /// Whether there is anything yet.
  bool any() const { return count_ > 0; }
  Weights weights() const { return {values_.average(), statistics_.average()}; }

  /// What has to survive a resume: both buffers, and how often they took something in.
  FlatBuffer& values() { return values_.average(); }
  FlatBuffer& statistics() { return statistics_.average(); }
  std::size_t count() const { return count_; }
  void set_count(std::size_t count) { count_ = count; }

  std::size_t bytes() const;

 private:
  int swa_start_;
  MovingAverage values_, statistics_;
  std::size_t count_ = 0;
};

}  // namespace convoy
