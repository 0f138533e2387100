// SPDX-License-Identifier: Apache-2.0

#include "convoy/monitor/run_hparams.h"

#include "convoy/settings/setting_values.h"

namespace convoy {

Hparams run_hparams(const Settings& settings) {
  Hparams hparams;
  for (const SettingValue& setting : setting_values(settings)) {
    if (setting.about_files) continue;
    if (setting.is_default && !setting.always_shown) continue;
    hparams[setting.name] = setting.value;
  }
  return hparams;
}

}  // namespace convoy
