// SPDX-License-Identifier: Apache-2.0
//
// Resolving: from what a person wrote to one Settings.
//
// What comes later wins:
//
//   defaults
//   config files, in their order
//   experiment=NAME on the command line, in their order
//   model=NAME, data=NAME, optimizer=NAME ... on the command line, in their order
//   dotted.name=value on the command line, in order
//
// group=NAME sets `group.name` and merges configs/<group>/<NAME>.yaml, if there is one,
// over what came before. A file may make such choices too; they come before its other
// settings, wherever they stand in it.
//
// A setting that was renamed is found by its old name too, and `warn` is told the new one
// once per old name. The config.yaml of a run that is resumed or evaluated is read
// without a warning: the run is recorded, and nobody has to change its file.

#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "convoy/settings/known_names.h"
#include "convoy/settings/settings.h"

namespace convoy {

struct SettingsContext {
  KnownNames names;
  std::vector<std::filesystem::path>
      folders;                         // hold <group>/<option>.yaml; first one wins
  std::filesystem::path run_config{};  // of a run, before all other files; empty: none
  std::function<void(const std::string&)> warn{};  // is told of old names; empty: nobody
};

/// The settings that defaults, files and `assignments` ("dotted.name=value") add up to.
///
/// Throws InputError of kind `settings` for anything that is not right about them, and of
/// kind `storage` for a file that cannot be read.
Settings resolve_settings(const std::vector<std::string>& assignments,
                          const std::vector<std::filesystem::path>& config_files,
                          const SettingsContext& context);

/// Where options are searched: $CONVOY_CONFIGS, ./configs, and configs beside the folder
/// of the executable. Throws InputError if CONVOY_CONFIGS is set to what is not a folder.
std::vector<std::filesystem::path> config_folders();

}  // namespace convoy
