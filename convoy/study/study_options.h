// SPDX-License-Identifier: Apache-2.0
//
// StudyOptions: how a study is made, as opposed to what its runs are set to. They are
// written as settings of a group of their own, on the command line or in a file under
// configs/sweep: sweep.trials=20.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "convoy/settings/setting_assignment.h"
#include "convoy/settings/setting_choices.h"

namespace convoy {

struct StudyOptions {
  std::size_t trials = 0;           // random combinations; 0: all
  std::uint64_t seed = 1;           // of the random choice
  std::size_t limit = 10'000;       // of runs
  int jobs = 0;                     // runs at a time; 0: measured
  int halving = 0;                  // 1 of so many continues after a rung; 0: all
  bool simulate = false;            // on a virtual cluster
  std::optional<BestMetric> score;  // none: checkpoint.best_metric
  int folds = 5;                    // of convoy kfold
  FoldChoice fold_by = FoldChoice::order;
};

/// "sweep.trials" and the others.
const std::vector<std::string>& study_option_names();

/// Throws InputError of kind `settings` for an unknown name or a value out of range.
void set_study_option(const SettingAssignment& assignment, StudyOptions& options);

}  // namespace convoy
