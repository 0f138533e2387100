// SPDX-License-Identifier: Apache-2.0
//
// What a command line says about settings, and the settings that follow from it.

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "convoy/settings/settings.h"

namespace convoy {

struct SettingArguments {
  std::vector<std::string> assignments{};      // "name=value"
  std::vector<std::filesystem::path> files{};  // of --config

  /// Throws InputError.
  Settings resolve() const;
};

}  // namespace convoy
