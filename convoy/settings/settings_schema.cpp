// SPDX-License-Identifier: Apache-2.0

#include "convoy/settings/settings_schema.h"

#include <fmt/format.h>

#include <algorithm>

#include "convoy/settings/settings_table.h"
#include "convoy/settings/settings_value.h"

namespace convoy {
namespace {

SettingKind kind_of(const Setting& setting, const Field& field) {
  if (std::holds_alternative<double*>(field)) return SettingKind::number;
  if (std::holds_alternative<Numbers*>(field)) return SettingKind::numbers;
  if (std::holds_alternative<bool*>(field)) return SettingKind::truth;
  if (std::holds_alternative<ChoiceField>(field)) return SettingKind::choice;
  if (!std::holds_alternative<std::string*>(field)) return SettingKind::whole;
  const bool free = std::holds_alternative<std::monostate>(setting.rule);
  return free ? SettingKind::text : SettingKind::choice;
}

std::string on_resume(const Setting& setting) {
  if (setting.is(kBits)) return "fixed";
  const bool length = setting.is(kEpochs | kSteps);
  return length ? "free unless the schedule depends on it" : "free";
}

SettingInfo info_of(const Setting& setting, const KnownNames& names) {
  Settings defaults;
  const Field field = setting.field(defaults);
  return {.name = setting.name,
          .kind = kind_of(setting, field),
          .default_text = value_text(field),
          .expected = expected_text(setting, names),
          .help = setting.help,
          .alias = setting.alias,
          .on_resume = on_resume(setting)};
}

std::string markdown_row(const SettingInfo& info) {
  const std::string shown =
      info.default_text.empty() ? "empty" : "`" + info.default_text + "`";
  const std::string before =
      info.alias.empty() ? "" : fmt::format(" (old name: `{}`)", info.alias);
  return fmt::format("| `{}` | {} | {} | {}{} | {} |\n", info.name, shown, info.expected,
                     info.help, before, info.on_resume);
}

struct HelpLine {
  std::string left;
  std::string right;
};

std::string aligned(const std::vector<HelpLine>& lines) {
  const auto longest = std::ranges::max_element(
      lines, {}, [](const HelpLine& line) { return line.left.size(); });
  std::string text;
  for (const auto& [left, right] : lines) {
    text += fmt::format("  {:<{}}  {}\n", left, longest->left.size(), right);
  }
  return text;
}

std::vector<HelpLine> choice_lines(const KnownNames& names) {
  std::vector<HelpLine> lines;
  for (const SettingInfo& info : settings_schema(names)) {
    const std::string group = info.name.substr(0, info.name.find('.'));
    if (info.name != group + ".name" || !is_choice(group)) continue;
    lines.push_back({group + "=NAME", fmt::format("{}: {} [{}]", info.help, info.expected,
                                                  info.default_text)});
  }
  lines.push_back({"experiment=NAME", "the settings of configs/experiment/NAME.yaml"});
  return lines;
}

std::vector<HelpLine> setting_lines(const KnownNames& names) {
  std::vector<HelpLine> lines;
  for (const SettingInfo& info : settings_schema(names)) {
    if (info.name.ends_with(".name") && info.kind == SettingKind::choice) continue;
    const bool typed = info.kind != SettingKind::text;
    lines.push_back({info.name + "=" + info.default_text,
                     info.help + (typed ? " (" + info.expected + ")" : "")});
  }
  return lines;
}

}  // namespace

std::vector<SettingInfo> settings_schema(const KnownNames& names) {
  std::vector<SettingInfo> schema;
  for (const Setting& setting : settings_table()) {
    schema.push_back(info_of(setting, names));
  }
  return schema;
}

std::string settings_markdown() {
  std::string text =
      "| setting | default | takes | meaning | on resume |\n"
      "| --- | --- | --- | --- | --- |\n";
  for (const SettingInfo& info : settings_schema()) text += markdown_row(info);
  return text;
}

std::string settings_help(const KnownNames& names) {
  return "Options of a group (group=NAME):\n" + aligned(choice_lines(names)) +
         "\nSettings (name=default):\n" + aligned(setting_lines(names));
}

}  // namespace convoy
