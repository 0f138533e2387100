// SPDX-License-Identifier: Apache-2.0

#include "convoy/settings/settings_fault.h"

#include <fmt/format.h>

#include <vector>

#include "convoy/base/text.h"
#include "convoy/settings/settings_table.h"
#include "convoy/settings/settings_value.h"

namespace convoy {
namespace {

constexpr std::size_t kLongest = 200;

/// All names that are allowed before '='.
std::vector<std::string> all_names() {
  std::vector<std::string> names = {std::string(kExperiment)};
  for (const Setting& setting : settings_table()) {
    const std::string group = setting.name.substr(0, setting.name.find('.'));
    names.push_back(setting.name);
    if (find_option_setting(group) == &setting) names.push_back(group);
  }
  return names;
}

/// Returns the setting that `name` would be with its group: "optimizer.lr" for "lr".
std::string with_group(const std::string& name) {
  for (const Setting& setting : settings_table()) {
    if (setting.name.ends_with("." + name)) return setting.name;
  }
  return "";
}

std::string escaped(char c, bool readable) {
  const auto byte = static_cast<unsigned char>(c);
  const bool odd = byte < 0x20 || byte == 0x7f || (byte >= 0x80 && !readable);
  return odd ? fmt::format("\\x{:02x}", byte) : std::string(1, c);
}

}  // namespace

InputError settings_error(const Fault& fault) { return {InputKind::settings, fault}; }

InputError unknown_setting(const std::string& name, const std::string& where) {
  std::string nearest = with_group(name);
  if (nearest.empty()) nearest = nearest_name(name, all_names());
  return settings_error({.where = where,
                         .found = "an unknown setting",
                         .expected = "the name of a setting",
                         .hint = nearest.empty()
                                     ? "convoy train --help lists all settings"
                                     : "nearest name: " + nearest});
}

InputError group_as_value(const std::string& group, const std::string& value,
                          const std::string& where) {
  const std::vector<std::string> members = settings_of_group(group);
  return settings_error({.where = where,
                         .found = shown(value),
                         .expected = "one of its settings: " + join(members),
                         .hint = group + " is a group of settings and has no value"});
}

std::string nearest_hint(std::string_view name, std::span<const std::string> candidates) {
  const std::string nearest = nearest_name(name, candidates);
  return nearest.empty() ? "" : "nearest name: " + nearest;
}

std::string shown(std::string_view text) {
  if (text.empty()) return "nothing";
  const bool readable = find_bad_utf8(text) == std::string_view::npos;
  std::string result;
  for (const char c : text.substr(0, kLongest)) result += escaped(c, readable);
  return text.size() > kLongest ? result + " ..." : result;
}

}  // namespace convoy
