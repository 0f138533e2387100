// SPDX-License-Identifier: Apache-2.0
//
// The settings of a command line, and their resolution.

#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "convoy/settings/settings.h"

namespace convoy {

struct SettingArguments {
  std::vector<std::string> assignments{};          // "name=value"
  std::vector<std::filesystem::path> files{};      // given by --config
  std::filesystem::path run_config{};              // of a run; merged before the others
  std::function<void(const std::string&)> warn{};  // called for old names of settings

  /// Throws InputError.
  Settings resolve() const;
};

}  // namespace convoy
