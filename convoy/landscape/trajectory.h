// SPDX-License-Identifier: Apache-2.0
//
// Trajectory: the weights that a run has saved (checkpoint.saves_per_epoch).

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "convoy/checkpoint/weight_saves.h"
#include "convoy/landscape/plane.h"
#include "convoy/settings/settings.h"

namespace convoy {

struct Trajectory {
  std::filesystem::path run;
  std::string name;  // of the run's folder
  std::vector<WeightSave> saves;
  std::vector<OwnedWeights> weights{};  // of each save
  std::string on_disk{};                // which files there were, and since when
};

/// Returns the path of the settings of a run. Throws InputError of kind `data` if the
/// folder is not that of a run.
std::filesystem::path run_config(const std::filesystem::path& run);

/// Throws InputError of kind `data` unless all runs have the model and the data of the
/// first.
void expect_one_model(const std::vector<std::filesystem::path>& runs);

/// Reads all saves of a run. Throws InputError if there are none, if a process writes the
/// run, if the saves are of another model, or need more memory than there is.
Trajectory read_trajectory(const std::filesystem::path& run, const LaidOutModel& model);

/// Throws InputError of kind `data` if the saves on disk are no longer those that were
/// read.
void expect_unchanged(const Trajectory& trajectory);

}  // namespace convoy
