// SPDX-License-Identifier: Apache-2.0

#include "convoy/settings/settings_compare.h"

#include <set>

#include "convoy/settings/settings_value.h"

namespace convoy {

std::string compared_settings(const Settings& settings) {
  static const std::set<std::string> own = {"data.root",           "cluster.node_rank",
                                            "cluster.master_addr", "cluster.master_port",
                                            "cluster.threads",     "cluster.pin"};
  Settings copy = settings;
  std::string lines;
  for (const Setting& setting : settings_table()) {
    if (own.contains(setting.name)) continue;
    lines += setting.name + "=" + value_text(setting.field(copy)) + "\n";
  }
  return lines;
}

}  // namespace convoy
