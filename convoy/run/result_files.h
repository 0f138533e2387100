// SPDX-License-Identifier: Apache-2.0
//
// What a run leaves for people besides its records: its model, its result by class, and
// its page.

#pragma once

#include "convoy/checkpoint/run_folder.h"
#include "convoy/network/model.h"
#include "convoy/run/run_log.h"
#include "convoy/settings/settings.h"

namespace convoy {

/// Writes model.json. Throws a storage error.
void write_model(const Model& model, const RunFolder& folder);

/// Writes eval.json, if the run was evaluated at its end, and report.html, if the
/// settings want it. What cannot be written is a warning: the run has succeeded.
void write_results(const Settings& settings, const Outcome& outcome, RunFolder& folder,
                   RunLog& log);

}  // namespace convoy
