// SPDX-License-Identifier: Apache-2.0
//
// EvalTarget: the checkpoint that `convoy eval` was told, here while this object is: one
// in object storage is brought into a folder that goes with it.

#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "convoy/checkpoint/checkpoint_folder.h"
#include "convoy/system/temporary_folder.h"

namespace convoy {

class EvalTarget {
 public:
  /// `on_damaged` hears of newer checkpoints of a run that are not whole. Throws
  /// InputError if there is none.
  EvalTarget(const std::string& name, const OnDamaged& on_damaged);

  const std::filesystem::path& checkpoint() const { return checkpoint_; }

  /// For what is written about it.
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::optional<TemporaryFolder> download_;
  std::filesystem::path checkpoint_, folder_;
};

}  // namespace convoy
