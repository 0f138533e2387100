// SPDX-License-Identifier: Apache-2.0

#include "convoy/compare/comparison.h"

#include <algorithm>
#include <map>
#include <set>

#include "convoy/settings/setting_changes.h"
#include "convoy/settings/setting_values.h"

namespace convoy {
namespace {

std::set<std::string> settings_about_files() {
  std::set<std::string> names;
  for (const SettingValue& value : setting_values({})) {
    if (value.about_files) names.insert(value.name);
  }
  return names;
}

/// The names in the order of the table of settings.
std::vector<std::string> in_order(const std::set<std::string>& names) {
  std::vector<std::string> ordered;
  for (const SettingValue& value : setting_values({})) {
    if (names.contains(value.name)) ordered.push_back(value.name);
  }
  return ordered;
}

/// By name, the values that differ from the first run's, and the first run's.
using Values = std::map<std::string, std::string>;

struct Differences {
  Values first;
  std::vector<Values> others;  // one per run
};

Differences differences_of(const std::vector<ComparedRun>& runs) {
  const auto first = std::ranges::find_if(
      runs, [](const ComparedRun& each) { return each.run.settings.has_value(); });
  Differences found{.first = {}, .others = std::vector<Values>(runs.size())};
  const std::set<std::string> about_files = settings_about_files();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!runs[i].run.settings) continue;
    for (const SettingChange& change :
         setting_changes(*first->run.settings, *runs[i].run.settings)) {
      if (about_files.contains(change.name)) continue;
      found.first[change.name] = change.before;
      found.others[i][change.name] = change.now;
    }
  }
  return found;
}

void set_settings(Comparison& comparison) {
  const Differences differences = differences_of(comparison.runs);
  std::set<std::string> names;
  for (const auto& [name, value] : differences.first) names.insert(name);
  comparison.settings = in_order(names);
  for (std::size_t i = 0; i < comparison.runs.size(); ++i) {
    ComparedRun& each = comparison.runs[i];
    const Values& own = differences.others[i];
    for (const std::string& name : comparison.settings) {
      const auto changed = own.find(name);
      each.settings.push_back(!each.run.settings     ? ""
                              : changed != own.end() ? changed->second
                                                     : differences.first.at(name));
    }
  }
}

/// The last `parts` parts of the run's path.
std::string tail_of(const std::filesystem::path& path, int parts) {
  std::filesystem::path tail = path.filename(), rest = path;
  for (int i = 1; i < parts && rest.has_parent_path(); ++i) {
    rest = rest.parent_path();
    tail = rest.filename() / tail;
  }
  return tail.string();
}

/// As many parts of the paths as make the names different, at most four.
void set_names(std::vector<ComparedRun>& runs) {
  for (int parts = 1; parts <= 4; ++parts) {
    std::set<std::string> names;
    for (ComparedRun& each : runs) {
      each.name = tail_of(each.run.folder, parts);
      names.insert(each.name);
    }
    if (names.size() == runs.size()) return;
  }
}

/// How fast a run is: the inverse of the time to the target, or images per second.
std::optional<double> speed_of(const ComparedRun& each, bool to_target) {
  if (!to_target) return each.run.images_per_second();
  if (!each.reached || !(each.reached->seconds > 0)) return {};
  return 1 / each.reached->seconds;
}

}  // namespace

Comparison compare_runs(std::vector<RunRecord> runs, std::optional<double> target) {
  Comparison comparison{.target = target, .settings = {}, .runs = {}};
  for (RunRecord& run : runs) {
    ComparedRun& each = comparison.runs.emplace_back();
    each.run = std::move(run);
    if (target) each.reached = first_reaching(each.run, *target);
  }
  set_names(comparison.runs);
  set_settings(comparison);
  for (ComparedRun& each : comparison.runs) {
    const auto own = speed_of(each, target.has_value());
    const auto first = speed_of(comparison.runs.front(), target.has_value());
    if (own && first && *first > 0) each.speedup = *own / *first;
  }
  return comparison;
}

}  // namespace convoy
