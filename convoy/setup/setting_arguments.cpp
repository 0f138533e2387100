// SPDX-License-Identifier: Apache-2.0

#include "convoy/setup/setting_arguments.h"

#include "convoy/settings/settings_resolve.h"
#include "convoy/setup/workload.h"

namespace convoy {

Settings SettingArguments::resolve() const {
  return resolve_settings(assignments, files,
                          {.names = known_names(),
                           .folders = config_folders(),
                           .run_config = run_config,
                           .warn = warn});
}

}  // namespace convoy
