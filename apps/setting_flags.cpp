// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <cstdio>

#include "apps/commands.h"
#include "convoy/base/printable.h"

namespace convoy {

void add_setting_flags(CLI::App& command, SettingArguments& arguments) {
  command.add_option("settings", arguments.assignments,
                     "settings as name=value; see docs/settings.md");
  add_config_flag(command, arguments);
}

void add_config_flag(CLI::App& command, SettingArguments& arguments) {
  // One file per flag; otherwise CLI11 would take the settings after it for files.
  command
      .add_option("--config", arguments.files, "YAML file with settings; may be repeated")
      ->allow_extra_args(false);
  arguments.warn = [](const std::string& text) {
    fmt::print(stderr, "convoy: {}\n", printable(text));
  };
}

}  // namespace convoy
