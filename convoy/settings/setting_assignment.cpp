// SPDX-License-Identifier: Apache-2.0

#include "convoy/settings/setting_assignment.h"

#include "convoy/settings/settings_fault.h"
#include "convoy/settings/settings_table.h"

namespace convoy {

SettingAssignment parse_assignment(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals != std::string::npos && equals > 0) {
    const std::string name = text.substr(0, equals);
    return {name, text.substr(equals + 1), "command line: " + shown(name)};
  }
  const bool nameless = equals == 0;
  throw settings_error({.where = "command line: " + shown(text),
                        .found = nameless ? "no name before '='" : "no '='",
                        .expected = "setting=value",
                        .hint = !nameless && find_setting(text)
                                    ? "write " + text + "=value"
                                    : "such as train.epochs=6"});
}

}  // namespace convoy
