// SPDX-License-Identifier: Apache-2.0
//
// The result of a study as a picture: one axis per setting that varies and one for the
// score, one line per combination.

#pragma once

#include <vector>

#include "convoy/plot/charts.h"
#include "convoy/study/study_results.h"

namespace convoy {

/// Combinations that were not made to their end have no line. Requires: one setting
/// varies that is not repeated.
ParallelChart study_chart(const StudyPlan& plan, const std::vector<RowResult>& results);

/// Whether there is something to draw: a setting that varies, and two combinations of it.
bool has_study_chart(const StudyPlan& plan, const std::vector<RowResult>& results);

}  // namespace convoy
