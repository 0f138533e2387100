// SPDX-License-Identifier: Apache-2.0
//
// Compares the settings of a resumed run with the original ones, and refuses forbidden
// changes.

#pragma once

#include <string>
#include <vector>

#include "convoy/settings/settings.h"

namespace convoy {

/// A changed setting.
struct SettingChange {
  std::string name, before, now;
  bool other_bits = false;  // the run would end at other bits than an uninterrupted one
};

/// "changed   train.epochs: 2 -> 3"
std::string describe(const SettingChange& change);

std::vector<SettingChange> setting_changes(const Settings& before, const Settings& now);

/// Throws InputError, naming all of them, if changes lead to other bits and
/// train.resume_force is not set.
void refuse_other_bits(const std::vector<SettingChange>& changes, const Settings& now);

}  // namespace convoy
