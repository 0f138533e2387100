// SPDX-License-Identifier: Apache-2.0
//
// The settings by name, each as a number, a boolean or a text.

#pragma once

#include <string>
#include <variant>
#include <vector>

#include "convoy/settings/settings.h"

namespace convoy {

struct SettingValue {
  std::string name;                               // "train.epochs"
  std::variant<double, std::string, bool> value;  // a list is a text: "[1, 2.5]"
  bool is_default = true;
  bool about_files = false;   // about files and places: not a hyperparameter
  bool always_shown = false;  // a hyperparameter that is shown even at its default
};

/// All settings, group by group.
std::vector<SettingValue> setting_values(const Settings& settings);

}  // namespace convoy
