// SPDX-License-Identifier: Apache-2.0

#include "convoy/settings/setting_values.h"

#include "convoy/settings/settings_value.h"

namespace convoy {
namespace {

using ShownValue = decltype(SettingValue::value);

struct AsShownValue {
  ShownValue operator()(const int* value) const { return static_cast<double>(*value); }
  ShownValue operator()(const std::uint64_t* value) const {
    return static_cast<double>(*value);
  }
  ShownValue operator()(const double* value) const { return *value; }
  ShownValue operator()(const bool* value) const { return *value; }
  ShownValue operator()(const std::string* value) const { return *value; }
  ShownValue operator()(Numbers* value) const { return value_text(value); }
  ShownValue operator()(const ChoiceField& value) const { return value_text(value); }
};

}  // namespace

std::vector<SettingValue> setting_values(const Settings& settings) {
  Settings copy = settings, defaults;  // the table needs mutable settings
  std::vector<SettingValue> values;
  for (const Setting& setting : settings_table()) {
    const Field field = setting.field(copy);
    values.push_back(
        {.name = setting.name,
         .value = std::visit(AsShownValue{}, field),
         .is_default = value_text(field) == value_text(setting.field(defaults)),
         .about_files = setting.is(kFiles),
         .always_shown = setting.is(kShown)});
  }
  return values;
}

}  // namespace convoy
