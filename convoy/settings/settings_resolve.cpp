// SPDX-License-Identifier: Apache-2.0

#include "convoy/settings/settings_resolve.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/settings/settings_fault.h"
#include "convoy/settings/settings_file.h"
#include "convoy/settings/settings_value.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;

/// Returns the names of the files <folder>/*.yaml; none if the folder does not exist.
void add_option_files(const fs::path& folder, std::set<std::string>& names) {
  std::error_code error;
  for (fs::directory_iterator i(folder, error), end; !error && i != end;
       i.increment(error)) {
    if (i->path().extension() == ".yaml") names.insert(i->path().stem());
  }
  const bool absent = error == std::errc::no_such_file_or_directory ||
                      error == std::errc::not_a_directory;
  if (error && !absent) throw storage_error(folder, "list this folder", error.value());
}

std::vector<std::string> files_of(std::string_view group,
                                  const std::vector<fs::path>& folders) {
  std::set<std::string> names;
  for (const fs::path& folder : folders) add_option_files(folder / group, names);
  return {names.begin(), names.end()};
}

/// Merges settings; later ones override earlier ones.
class Resolver {
 public:
  /// Borrows the context.
  explicit Resolver(const SettingsContext& context) : context_(context) {}

  /// Merges a file over what came before. `selected_at` says where it was selected.
  void merge_file(const fs::path& path, const std::string& selected_at) {
    std::error_code error;
    const fs::path canonical = fs::weakly_canonical(path, error);
    const fs::path& identity = error ? path : canonical;
    refuse_cycle(identity, path, selected_at);
    open_.emplace_back(identity, path);
    merge(read_settings_file(path));
    open_.pop_back();
  }

  /// Merges the config.yaml of a run, without warnings about old names.
  void merge_run_config(const fs::path& path) {
    warns_ = false;
    merge_file(path, "train.resume");
    warns_ = true;
  }

  /// Merges the selected files, experiments first, then the settings in order.
  void merge(const std::vector<SettingAssignment>& assignments) {
    for (const SettingAssignment& one : assignments) {
      if (one.name == kExperiment) choose(one);
    }
    for (const SettingAssignment& one : assignments) {
      if (find_option_setting(one.name)) choose(one);
    }
    for (const SettingAssignment& one : assignments) {
      if (one.name != kExperiment) set(one);
    }
  }

  Settings finish() const {
    validate(settings_, origins_);
    return settings_;
  }

 private:
  void set(const SettingAssignment& assignment) {
    const Setting* option = find_option_setting(assignment.name);
    const Setting* setting = option ? option : find_setting(assignment.name);
    if (!setting) throw no_setting(assignment);
    if (assignment.name == setting->alias) warn_about_alias(*setting);
    assign(*setting, assignment, context_.names, settings_);
    origins_[setting->name] = assignment.where;
  }

  void warn_about_alias(const Setting& setting) {
    if (!warns_ || !context_.warn || !warned_.insert(setting.alias).second) return;
    context_.warn(setting.alias + " is now " + setting.name);
  }

  static InputError no_setting(const SettingAssignment& assignment) {
    const auto& [name, value, where] = assignment;
    const bool group = !settings_of_group(name).empty();
    return group ? group_as_value(name, value, where) : unknown_setting(name, where);
  }

  /// The name is set here as well, so that the option's own file can override it.
  void choose(const SettingAssignment& choice) {
    if (choice.name == kExperiment) {
      refuse_unknown_experiment(choice);
    } else {
      set(choice);
    }
    const auto file = option_file(choice.name, choice.value);
    if (file) merge_file(*file, choice.where);
  }

  void refuse_unknown_experiment(const SettingAssignment& choice) const {
    const std::vector<std::string> names = files_of(kExperiment, context_.folders);
    if (std::ranges::find(names, choice.value) != names.end()) return;
    throw settings_error({.where = choice.where,
                          .found = shown(choice.value),
                          .expected = names.empty() ? "no experiment: none was found"
                                                    : "one of " + join(names),
                          .hint = experiment_hint(choice.value, names)});
  }

  std::string experiment_hint(const std::string& name,
                              const std::vector<std::string>& names) const {
    const std::string nearest = nearest_hint(name, names);
    if (!nearest.empty()) return nearest;
    std::vector<std::string> folders;
    for (const fs::path& folder : context_.folders) {
      folders.push_back((folder / kExperiment).lexically_normal());
    }
    return "searched: " + (folders.empty() ? "no folder" : join(folders));
  }

  /// Requires: `option` is one of the group's, so that it cannot lead out of the folder.
  std::optional<fs::path> option_file(const std::string& group,
                                      const std::string& option) const {
    return find_option_file(group, option, context_.folders);
  }

  void refuse_cycle(const fs::path& identity, const fs::path& path,
                    const std::string& selected_at) const {
    const auto first =
        std::ranges::find(open_, identity, &std::pair<fs::path, fs::path>::first);
    if (first == open_.end()) return;
    std::vector<std::string> chain;
    for (auto file = first; file != open_.end(); ++file) chain.push_back(file->second);
    chain.push_back(path);
    throw settings_error({.where = selected_at,
                          .found = "a circle: " + join(chain, " -> "),
                          .expected = "files that do not choose each other in a circle",
                          .hint = ""});
  }

  const SettingsContext& context_;
  Settings settings_;
  SettingOrigins origins_;
  bool warns_ = true;
  std::set<std::string> warned_;  // aliases
  std::vector<std::pair<fs::path, fs::path>>
      open_;  // files being merged: identity, as named
};

std::optional<fs::path> folder_from_environment() {
  const char* value = std::getenv("CONVOY_CONFIGS");
  if (!value || !*value) return std::nullopt;
  std::error_code ignored;
  if (fs::is_directory(value, ignored)) return value;
  throw settings_error({.where = "environment: CONVOY_CONFIGS",
                        .found = shown(value),
                        .expected = "an existing folder",
                        .hint = ""});
}

}  // namespace

std::optional<std::filesystem::path> find_option_file(
    std::string_view group, const std::string& option,
    const std::vector<std::filesystem::path>& folders) {
  for (const fs::path& folder : folders) {
    const fs::path path = (folder / group / (option + ".yaml")).lexically_normal();
    std::error_code ignored;  // if it cannot be examined, reading it reports why
    if (fs::status(path, ignored).type() != fs::file_type::not_found) return path;
  }
  return std::nullopt;
}

Settings resolve_settings(const std::vector<std::string>& assignments,
                          const std::vector<std::filesystem::path>& config_files,
                          const SettingsContext& context) {
  std::vector<SettingAssignment> command_line;
  for (const std::string& text : assignments)
    command_line.push_back(parse_assignment(text));

  Resolver resolver(context);
  if (!context.run_config.empty()) resolver.merge_run_config(context.run_config);
  for (const fs::path& file : config_files)
    resolver.merge_file(file, "command line: --config");
  resolver.merge(command_line);
  return resolver.finish();
}

std::vector<std::string> option_names(const std::string& group,
                                      const SettingsContext& context) {
  if (group == kExperiment || group == kSweep) return files_of(group, context.folders);
  const Setting* setting = find_option_setting(group);
  if (!setting) setting = find_setting(group);
  const auto* names = setting ? allowed_names(*setting, context.names) : nullptr;
  return names ? *names : std::vector<std::string>{};
}

std::vector<std::filesystem::path> config_folders() {
  std::vector<fs::path> folders;
  if (const auto folder = folder_from_environment()) folders.push_back(*folder);
  folders.emplace_back("configs");
  std::error_code error;
  const fs::path executable = fs::read_symlink("/proc/self/exe", error);
  if (!error) folders.push_back(executable.parent_path().parent_path() / "configs");
  return folders;
}

}  // namespace convoy
