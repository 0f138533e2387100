// SPDX-License-Identifier: Apache-2.0

#include "convoy/settings/settings_table.h"

#include <algorithm>

namespace convoy {
namespace {

// Numbers that the network converts to fp32 must not become infinite.
constexpr double kLargest = 1e38;

// ---- the rules of settings_table.inc

Bounds from(double low) { return {.low = low}; }
Bounds from_zero(std::string_view word) { return {.low = 0, .zero = word}; }
Bounds from_to(double low, double high) { return {.low = low, .high = high}; }
Bounds from_below(double low, double high) {
  return {.low = low, .high = high, .high_open = true};
}
Bounds above_to(double low, double high) {
  return {.low = low, .high = high, .low_open = true};
}
KnownList known(KnownList names) { return names; }
std::monostate any() { return {}; }

// ---- the places

template <class Plain>
Field field_of(Plain& place) {
  return &place;
}

template <Choice T>
Field field_of(T& place) {
  return ChoiceField{
      .place = &place,
      .names = &choice_names<T>(),
      .old_name = old_name(T{}),
      .index =
          [](const void* at) {
            return static_cast<std::size_t>(*static_cast<const T*>(at));
          },
      .set = [](void* at,
                std::size_t index) { *static_cast<T*>(at) = static_cast<T>(index); }};
}

const std::vector<Setting>& table() {
  // clang-format off
#define GROUP(Type)
#define SETTING(group, member, type, initial, ...) \
  {#group "." #member, [](Settings& s) { return field_of(s.group.member); }, __VA_ARGS__},
#define SUBGROUP(Type)
#define END_SUBGROUP(Type, member)
#define END_GROUP(Type)
  static const std::vector<Setting> rows = {
#include "convoy/settings/settings_table.inc"
  };
  // clang-format on
  return rows;
}

bool begins_with_group(std::string_view name, std::string_view group) {
  return name.size() > group.size() && name.starts_with(group) &&
         name[group.size()] == '.';
}

bool has_options(const Setting& setting) {
  Settings defaults;
  return std::holds_alternative<KnownList>(setting.rule) ||
         std::holds_alternative<ChoiceField>(setting.field(defaults));
}

}  // namespace

std::span<const Setting> settings_table() { return table(); }

const Setting* find_setting(std::string_view name) {
  if (name.empty()) return nullptr;  // most settings have an empty alias
  const auto row = std::ranges::find_if(table(), [&](const Setting& setting) {
    return setting.name == name || setting.alias == name;
  });
  return row == table().end() ? nullptr : &*row;
}

bool is_list(std::string_view name) {
  const Setting* setting = find_setting(name);
  Settings defaults;
  return setting && std::holds_alternative<Numbers*>(setting->field(defaults));
}

const Setting* find_option_setting(std::string_view group) {
  const Setting* setting = find_setting(std::string(group) + ".name");
  return setting && has_options(*setting) ? setting : nullptr;
}

bool is_choice(std::string_view name) {
  return name == kExperiment || find_option_setting(name) != nullptr;
}

std::vector<std::string> settings_of_group(std::string_view group) {
  std::vector<std::string> names;
  for (const Setting& setting : table()) {
    if (begins_with_group(setting.name, group)) names.push_back(setting.name);
  }
  return names;
}

}  // namespace convoy
