// SPDX-License-Identifier: Apache-2.0
//
// Which settings of a resumed run are not what they were, and which of them may not
// change.

#pragma once

#include <string>
#include <vector>

#include "convoy/settings/settings.h"

namespace convoy {

/// A setting that is not what it was.
struct SettingChange {
  std::string name, before, now;
  bool other_bits = false;  // the run would not end at the bits of one never interrupted
};

/// "changed   train.epochs: 2 -> 3"
std::string describe(const SettingChange& change);

std::vector<SettingChange> setting_changes(const Settings& before, const Settings& now);

/// Throws InputError, naming all of them, if a change leads to other bits and
/// train.resume_force is not set.
void refuse_other_bits(const std::vector<SettingChange>& changes, const Settings& now);

}  // namespace convoy
