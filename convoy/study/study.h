// SPDX-License-Identifier: Apache-2.0
//
// run_study: makes the runs of a study that are not complete yet, and writes the result.
//
// A run is a child process of this program with train.resume=auto, so that one that was
// killed resumes from its last checkpoint; one on a virtual cluster begins again. A run
// that fails does not end the others. With halving, runs are stopped at rungs, after
// epochs / factor^k epochs: of the groups of each rung, one of `factor` continues.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "convoy/base/exit_code.h"
#include "convoy/study/study_results.h"

namespace convoy {

struct StudyProgress {
  std::size_t done = 0, runs = 0, running = 0, failed = 0;
  double seconds_left = -1;  // below 0: not known yet
};

/// What the application shows.
struct StudyView {
  std::function<void(const std::string& line)> line;
  std::function<void(const StudyProgress&)> progress;
};

struct StudyEnd {
  /// Done; that of the first run that failed; stopped or interrupted twice.
  ExitCode code = ExitCode::done;
  std::vector<RowResult> results{};  // by row
};

/// Throws InputError, PeerError. Requires: this process has no other threads.
StudyEnd run_study(const StudyPlan& plan, const StudyView& view);

/// The epochs after which runs of that length are compared, ascending.
std::vector<int> halving_rungs(int epochs, int factor);

}  // namespace convoy
