// SPDX-License-Identifier: Apache-2.0
//
// The result of a study as a table for people, as CSV and as JSON.

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "convoy/study/study_results.h"

namespace convoy {

/// One line per run or group of runs, best first, for a terminal of that width, and the
/// best as a command line.
std::string results_text(const StudyPlan& plan, const std::vector<RowResult>& results,
                         std::size_t width);

/// One line per row, in the order of the plan, without times.
std::string results_csv(const StudyPlan& plan, const std::vector<RowResult>& results);

/// Rows with times, and groups, best first.
nlohmann::ordered_json results_json(const StudyPlan& plan,
                                    const std::vector<RowResult>& results);

/// "optimizer.lr=0.1 train.seed=2".
std::string describe_row(const StudyPlan& plan, const StudyRow& row);

/// The combinations and how they are run, for --dry-run.
std::string plan_text(const StudyPlan& plan);

/// The command that trains with the settings of a row, as a shell reads it, without its
/// seed and fold.
std::string command_of(const StudyPlan& plan, const StudyRow& row);

}  // namespace convoy
