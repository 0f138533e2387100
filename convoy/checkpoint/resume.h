// SPDX-License-Identifier: Apache-2.0
//
// Resume: from `train.resume` to the checkpoint a run goes on from.
//
//   auto         the run of that name in run.dir, or without a name the newest run there
//                that has not come to its end; from the start if there is none, or if it
//                was killed before its first checkpoint
//   a run        its newest whole checkpoint; goes on in its folder
//   a checkpoint that one, in a new folder
//
// Settings of the run hold, with those that were given anew over them.

#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "convoy/checkpoint/checkpoint_folder.h"
#include "convoy/settings/settings.h"

namespace convoy {

struct ResumeSource {
  std::optional<std::filesystem::path> checkpoint;  // whole; none: from the start
  std::optional<std::filesystem::path> run;         // to go on in; none: a new folder
  std::vector<std::string> damaged;                 // newer ones that are not whole

  /// As train.resume names it.
  std::filesystem::path path() const { return run ? *run : *checkpoint; }
};

/// Nothing if the run is to begin from the start. Throws InputError if what is named has
/// no whole checkpoint. Of runs that nobody named, those that are odd are passed over,
/// and `on_odd` hears why.
std::optional<ResumeSource> find_resume_source(const Settings& settings,
                                               const OnDamaged& on_odd = {});

/// Whether the path is a run's folder, as opposed to a checkpoint's, or none.
bool is_run_folder(const std::filesystem::path& path);

}  // namespace convoy
