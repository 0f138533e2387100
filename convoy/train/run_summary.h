// SPDX-License-Identifier: Apache-2.0
//
// RunSummary: summary.json, and how the time of a run was spent.

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "convoy/base/train_position.h"
#include "convoy/monitor/rank_totals.h"
#include "convoy/monitor/records.h"
#include "convoy/monitor/time_table.h"
#include "convoy/train/outcome.h"

namespace convoy {

struct TrainingParts;

class RunSummary {
 public:
  /// Borrows both for as long as it lives.
  RunSummary(const TrainingParts& parts, const Records& records)
      : parts_(parts), records_(records) {}

  void add_training(double seconds) { training_ += seconds; }
  void add_evaluating(double seconds) { evaluating_ += seconds; }
  void set_checkpointing(double seconds) { checkpointing_ = seconds; }

  RunTimes times(double total_seconds) const;

  /// The content of summary.json.
  nlohmann::ordered_json to_json(const Outcome& outcome, const TrainPosition& end,
                                 const std::vector<RankTotals>& ranks,
                                 double total_seconds) const;

 private:
  nlohmann::ordered_json seconds(const std::vector<RankTotals>& ranks,
                                 double total) const;
  nlohmann::ordered_json step_ms() const;
  nlohmann::ordered_json rank_ms(const std::vector<RankTotals>& ranks) const;

  const TrainingParts& parts_;
  const Records& records_;
  double training_ = 0, evaluating_ = 0, checkpointing_ = 0;  // seconds
};

/// The totals of all ranks, which end at the same weights, or there is a bug. All ranks
/// call it.
std::vector<RankTotals> agreed_totals(TrainingParts& parts);

/// What this rank reports at the end. All ranks call it.
RankTotals rank_totals(TrainingParts& parts);

}  // namespace convoy
