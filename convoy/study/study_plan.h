// SPDX-License-Identifier: Apache-2.0
//
// StudyPlan: the runs of a study, all of them checked before the first one starts.
//
//   question -> combinations -> rows of the result -> runs that give them
//
// In a sweep every row has a run of its own. In a cross-validation, rows that differ in
// train.epochs alone share one run, which is evaluated after each of these epochs, if its
// beginning does not depend on its length: constant rate, no averages, no early end.

#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "convoy/settings/settings.h"
#include "convoy/study/study_question.h"

namespace convoy {

/// One combination, and where its result is found.
struct StudyRow {
  Combination values;   // one per dimension
  std::size_t run = 0;  // index into StudyPlan::runs
  int epoch = 0;        // whose evaluation is the result; 0: the end of the run
};

struct StudyRun {
  std::vector<std::string> assignments;  // over those that all runs have
  int epochs = 0;                        // train.epochs
};

struct StudyPlan {
  StudyKind kind = StudyKind::sweep;
  StudyOptions options;
  std::filesystem::path folder;    // <run.dir>/<name>
  std::vector<std::string> given;  // settings of all runs that the question names
  std::vector<std::string> fixed;  // the same, and those that follow from its kind
  std::vector<std::filesystem::path> files;  // given by --config
  std::vector<std::string> dimensions;       // names, as columns of the result
  std::vector<StudyRow> rows;
  std::vector<StudyRun> runs;
  std::string split;  // "val" or "test": whose score decides
  BestMetric metric = BestMetric::accuracy;
  Settings first;                   // settings of the first run
  nlohmann::ordered_json identity;  // what makes it this study and no other
};

/// Resolves and checks every run. Throws InputError.
StudyPlan plan_study(const StudyRequest& request);

/// The folder of a run: <study>/<number>.
std::filesystem::path run_folder(const StudyPlan& plan, std::size_t run);

}  // namespace convoy
