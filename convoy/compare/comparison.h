// SPDX-License-Identifier: Apache-2.0
//
// Comparison: several runs beside each other, with the settings in which they differ.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "convoy/compare/run_record.h"

namespace convoy {

struct ComparedRun {
  RunRecord run;
  std::string name;                   // its folder's, with parents where names repeat
  std::vector<std::string> settings;  // in the order of Comparison::settings; "": unknown
  std::optional<RunEvaluation> reached;  // the first evaluation that reached the target
  /// How many times as fast as the first run: in training time to the target if there is
  /// one, otherwise in images per second. Nothing if that is not known of both.
  std::optional<double> speedup;
};

struct Comparison {
  std::optional<double> target;  // an accuracy, 0 .. 1
  /// The names of the settings that differ, except those about files and places.
  std::vector<std::string> settings;
  std::vector<ComparedRun> runs;
};

Comparison compare_runs(std::vector<RunRecord> runs, std::optional<double> target = {});

}  // namespace convoy
