// SPDX-License-Identifier: Apache-2.0
//
// Reads the curves of metrics.jsonl: of steps, epochs and evaluations, and of every rank.

#pragma once

#include <filesystem>

#include "convoy/pages/run_curves.h"

namespace convoy {

/// Adds the curves of a file. Their names are those of TensorBoard's tags. Lines that are
/// no records are left out, and so is a file that cannot be read.
void read_metrics_curves(const std::filesystem::path& path, RunCurves& curves);

}  // namespace convoy
