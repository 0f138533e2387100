// SPDX-License-Identifier: Apache-2.0
//
// A file of settings: YAML to assignments. Internal to the settings.

#pragma once

#include <filesystem>
#include <vector>

#include "convoy/settings/settings_value.h"

namespace convoy {

/// The file's settings in its order, with dotted names and lines. Nested maps and dotted
/// keys mean the same. Names of values are not checked yet, nor are values.
///
/// Throws InputError: of kind `storage` if the file cannot be read; of kind `settings` if
/// it is not YAML, sets something twice, or has a list, a map or nothing where a value
/// belongs.
std::vector<SettingAssignment> read_settings_file(const std::filesystem::path& path);

}  // namespace convoy
