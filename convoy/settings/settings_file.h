// SPDX-License-Identifier: Apache-2.0
//
// Reads settings from a YAML file.

#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "convoy/settings/setting_assignment.h"

namespace convoy {

/// Returns the file's settings in order, with dotted names and lines. Nested maps and
/// dotted keys are equivalent. Names and values are not checked yet.
///
/// Throws InputError: of kind `storage` if the file cannot be read; of kind `settings` if
/// it is not YAML, sets something twice, or has a list, a map or nothing in place of a
/// value. `more` are names that the file may have besides the settings ("sweep.trials").
std::vector<SettingAssignment> read_settings_file(const std::filesystem::path& path,
                                                  std::span<const std::string> more = {});

}  // namespace convoy
