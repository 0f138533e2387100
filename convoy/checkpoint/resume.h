// SPDX-License-Identifier: Apache-2.0
//
// Resume: finds the checkpoint that `train.resume` names.
//
//   auto         the run with run.name in run.dir, or without a name the newest run there
//                that has not finished; from the start if there is none, or if it
//                was killed before its first checkpoint
//   a run        its newest complete checkpoint; continues in the run's folder
//   a checkpoint this checkpoint; continues in a new folder
//
// The run's settings apply, overridden by those given on the command line.

#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "convoy/checkpoint/checkpoint_folder.h"
#include "convoy/settings/settings.h"

namespace convoy {

struct ResumeSource {
  std::optional<std::filesystem::path> checkpoint;  // complete; none: from the start
  /// Folder to continue in; none: a new folder.
  std::optional<std::filesystem::path> run;
  std::vector<std::string> damaged;  // newer checkpoints that are damaged

  /// The path as train.resume names it.
  std::filesystem::path path() const { return run ? *run : *checkpoint; }
};

/// Returns nothing if the run is to begin from the start. Throws InputError if the named
/// run has no complete checkpoint. With `auto`, invalid runs are skipped, and
/// `on_skipped` is called with the reason.
std::optional<ResumeSource> find_resume_source(const Settings& settings,
                                               const OnDamaged& on_skipped = {});

/// Whether the path is a run's folder, as opposed to a checkpoint's folder or something
/// else.
bool is_run_folder(const std::filesystem::path& path);

}  // namespace convoy
