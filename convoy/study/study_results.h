// SPDX-License-Identifier: Apache-2.0
//
// StudyResults: what the runs of a study came to, row by row, and as groups of rows that
// differ in seeds and folds alone, the best first.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "convoy/compare/run_record.h"
#include "convoy/study/study_plan.h"

namespace convoy {

enum class RowState {
  done,
  diverged,   // the loss was not finite
  halved,     // stopped at a rung, because others were better
  failed,     // ended with an error, or was killed
  unfinished  // stopped on request, or not yet begun
};

/// "done".
std::string name_of(RowState state);

struct RowResult {
  RowState state = RowState::unfinished;
  int epoch = 0;  // after which it was scored
  std::uint64_t step = 0;
  std::optional<RunScore> train, val, test;
  std::string weights_sha256;  // of a run that is the row's own
  /// That its run took: by the virtual clock, or in the last of its processes.
  std::optional<double> seconds;
  std::optional<double> virtual_seconds;  // by the virtual clock

  /// The score on the split that decides, if there is one.
  const std::optional<RunScore>& score(const std::string& split) const {
    return split == "val" ? val : test;
  }
};

/// Mean and standard deviation (of a sample, n - 1) over some rows.
struct Statistic {
  double mean = 0, deviation = 0;
  std::size_t count = 0;
};

/// Rows that differ in repeated dimensions alone.
struct StudyGroup {
  std::vector<std::size_t> rows;
  Statistic loss, accuracy, seconds;  // of the deciding split; of rows that have them
  RowState state = RowState::done;    // the worst of its rows
  int epoch = 0;                      // the first after which one of them was scored
};

/// The records of all runs, by number; nothing for those that have not begun.
std::vector<std::optional<RunRecord>> read_records(const StudyPlan& plan);

/// Whether the run has nothing left to do: finished, or diverged.
bool is_complete(const RunRecord& record);

/// The result of a row from its run's record. `rung`: the epoch after which the run was
/// stopped as hopeless; 0: it was not.
RowResult result_of(const StudyRow& row, const std::optional<RunRecord>& record,
                    int rung = 0);

/// The groups of rows, best first: complete ones by their score, then those that were
/// stopped at rungs, the latest first, then those with rows that diverged or failed.
std::vector<StudyGroup> ranked_groups(const StudyPlan& plan,
                                      const std::vector<RowResult>& results);

}  // namespace convoy
