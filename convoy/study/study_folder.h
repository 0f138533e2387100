// SPDX-License-Identifier: Apache-2.0
//
// StudyFolder: the folder of a study.
//
//   plan.json      what makes it this study: command, settings, dimensions; written first
//   0/ 1/ 2/ ...   the runs, each an ordinary run folder
//   sweep.json     the result with times, groups best first    written at the end
//   sweep.csv      the result row by row, without times, so that it is the same however
//                  often the study was interrupted
//   sweep.svg      the chart, which the application draws
//
// All files are written atomically. One process at a time works on a study.

#pragma once

#include <filesystem>

#include "convoy/study/study_plan.h"
#include "convoy/study/study_results.h"
#include "convoy/system/descriptor.h"

namespace convoy {

class StudyFolder {
 public:
  /// Makes the folder, or opens it to continue its study. Throws InputError of kind
  /// `settings` if it belongs to another study, saying what differs, or if another
  /// process works on it.
  explicit StudyFolder(const StudyPlan& plan);

  /// Writes sweep.json and sweep.csv. Throws a storage error.
  void write_results(const StudyPlan& plan, const std::vector<RowResult>& results) const;

 private:
  std::filesystem::path path_;
  Descriptor lock_;  // is released with the process, however it ends
};

}  // namespace convoy
