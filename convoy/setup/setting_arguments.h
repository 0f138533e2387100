// SPDX-License-Identifier: Apache-2.0
//
// What a command line says about settings, and the settings that follow from it.

#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "convoy/settings/settings.h"

namespace convoy {

struct SettingArguments {
  std::vector<std::string> assignments{};          // "name=value"
  std::vector<std::filesystem::path> files{};      // of --config
  std::filesystem::path run_config{};              // of a run, before all of these
  std::function<void(const std::string&)> warn{};  // is told of old names of settings

  /// Throws InputError.
  Settings resolve() const;
};

}  // namespace convoy
