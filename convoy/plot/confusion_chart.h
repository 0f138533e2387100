// SPDX-License-Identifier: Apache-2.0
//
// The confusion matrix as a heat map: one row per true class, one column per predicted
// class.

#pragma once

#include <string>

#include "convoy/plot/charts.h"
#include "convoy/report/classification.h"

namespace convoy {

/// Requires: matrix.has_pairs().
HeatMap confusion_chart(const ConfusionMatrix& matrix, const std::string& title);

}  // namespace convoy
