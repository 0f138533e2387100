// SPDX-License-Identifier: Apache-2.0

#include "convoy/settings/settings_compare.h"

#include "convoy/settings/settings_value.h"

namespace convoy {

std::string compared_settings(const Settings& settings) {
  Settings copy = settings;
  std::string lines;
  for (const Setting& setting : settings_table()) {
    if (setting.is(kMachine)) continue;
    lines += setting.name + "=" + value_text(setting.field(copy)) + "\n";
  }
  return lines;
}

}  // namespace convoy
