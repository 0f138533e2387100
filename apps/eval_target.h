// SPDX-License-Identifier: Apache-2.0
//
// What is evaluated. EvalTarget: the checkpoint that `convoy eval` evaluates. A
// checkpoint in object storage is downloaded into a temporary folder that lives as long
// as this object.

#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "convoy/checkpoint/checkpoint_folder.h"
#include "convoy/setup/workload.h"
#include "convoy/system/temporary_folder.h"

namespace convoy {

class EvalTarget {
 public:
  /// `on_damaged` is called for newer checkpoints of the run that are damaged. Throws
  /// InputError if there is no complete one.
  EvalTarget(const std::string& name, const OnDamaged& on_damaged);

  const std::filesystem::path& checkpoint() const { return checkpoint_; }

  /// The default folder for the results.
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::optional<TemporaryFolder> download_;
  std::filesystem::path checkpoint_, folder_;
};

/// Returns the samples of a split: train, val or test. Throws InputError if there are
/// none.
EvaluationSet chosen_set(const Workload& work, const std::string& split);

}  // namespace convoy
