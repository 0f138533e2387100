// SPDX-License-Identifier: Apache-2.0
//
// Resolves files and assignments to Settings.
//
// Later ones override earlier ones:
//
//   defaults
//   config files, in their order
//   experiment=NAME on the command line, in their order
//   model=NAME, data=NAME, optimizer=NAME ... on the command line, in their order
//   dotted.name=value on the command line, in order
//
// group=NAME sets `group.name` and merges configs/<group>/<NAME>.yaml, if it exists, over
// what came before. A file may contain such choices too; they are merged before its other
// settings, whatever their order in the file.
//
// A renamed setting can be given by its old name; `warn` is called with the new one, once
// per old name. The config.yaml of a run that is resumed or evaluated is read without
// warnings, because people do not edit it.

#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "convoy/settings/known_names.h"
#include "convoy/settings/settings.h"

namespace convoy {

struct SettingsContext {
  KnownNames names;
  std::vector<std::filesystem::path>
      folders;  // with <group>/<option>.yaml; the first one wins
  /// Of a run, merged before all other files; empty: none.
  std::filesystem::path run_config{};
  std::function<void(const std::string&)> warn{};  // called for old names; may be empty
};

/// Resolves defaults, files and `assignments` ("dotted.name=value").
///
/// Throws InputError of kind `settings` for invalid settings, of kind `storage` for a
/// file that cannot be read.
Settings resolve_settings(const std::vector<std::string>& assignments,
                          const std::vector<std::filesystem::path>& config_files,
                          const SettingsContext& context);

/// The group whose files describe sweeps.
inline constexpr std::string_view kSweep = "sweep";

/// The file <folder>/<group>/<option>.yaml of the first folder that has one.
std::optional<std::filesystem::path> find_option_file(
    std::string_view group, const std::string& option,
    const std::vector<std::filesystem::path>& folders);

/// The names that a group, such as "model" or "experiment", or a setting may have; none
/// if it is no choice of names.
std::vector<std::string> option_names(const std::string& group,
                                      const SettingsContext& context);

/// Where options are searched: $CONVOY_CONFIGS, ./configs, and configs beside the folder
/// of the executable. Throws InputError if CONVOY_CONFIGS is not a folder.
std::vector<std::filesystem::path> config_folders();

}  // namespace convoy
