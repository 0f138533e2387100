// SPDX-License-Identifier: Apache-2.0
//
// Reads the curves of metrics.jsonl: of steps, epochs and evaluations, and of every rank.

#pragma once

#include <string_view>

#include "convoy/pages/run_curves.h"

namespace convoy {

/// Adds the curves of the text of a file. Their names are those of TensorBoard's tags. Of
/// more than `most_steps` records of steps, those with the least and the largest loss and
/// time of equal parts are taken. Lines that are no records are left out, and so is a
/// file that cannot be read.
void read_metrics_curves(std::string_view text, std::size_t most_steps,
                         RunCurves& curves);

}  // namespace convoy
