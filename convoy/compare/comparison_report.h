// SPDX-License-Identifier: Apache-2.0
//
// A comparison as a table, as JSON and as a chart.

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "convoy/compare/comparison.h"
#include "convoy/plot/charts.h"
#include "convoy/report/text_table.h"

namespace convoy {

/// One row per run; columns without anything are left out. Settings have the last part of
/// their name if that is clear and `short_names` is set.
std::vector<TextColumn> comparison_columns(const Comparison& comparison,
                                           bool short_names);

/// What is wrong with runs, one line each: those that are not finished, and what of their
/// files could not be read.
std::string comparison_notes(const Comparison& comparison);

/// {"target", "settings": names, "runs": [{"name", "folder", "state", "problems",
/// "settings", "steps", "val", "test", "training_seconds", "images_per_second",
/// "reached": {"seconds", "split", "epoch", "step", "accuracy"}, "speedup"}]}; what is
/// not known is null. Runs with a summary also have "total_seconds", "step_ms",
/// "bytes_sent", "peak_rss_bytes", "strategy", "ranks", "threads", "epochs",
/// "weights_sha256" and "exit".
nlohmann::ordered_json comparison_json(const Comparison& comparison);

/// Accuracy by training time, one line per run: on the validation set, or on the test set
/// if there is none. With a target, the first time that a run reaches it is marked.
LineChart comparison_chart(const Comparison& comparison);

}  // namespace convoy
