// SPDX-License-Identifier: Apache-2.0

#include "convoy/study/study_folder.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "convoy/base/error.h"
#include "convoy/base/json.h"
#include "convoy/base/text.h"
#include "convoy/study/study_report.h"
#include "convoy/system/file.h"

namespace convoy {
namespace {

using json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr const char* kPlanFile = "plan.json";
constexpr std::size_t kMostDifferences = 5;

Descriptor locked_study(const fs::path& path) {
  Descriptor folder = lock_folder(path, LockMode::exclusive);
  if (folder) return folder;
  throw InputError(InputKind::settings,
                   {.where = path,
                    .found = "a study that another process is working on",
                    .expected = "a study that no process is working on",
                    .hint = "wait for it to end, or choose another run.name"});
}

std::string shown_value(const json& value) {
  if (value.is_null()) return "absent";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// Appends "name: before, now after" for each difference, one level below objects.
void add_differences(const json& before, const json& now, const std::string& prefix,
                     std::vector<std::string>& texts) {
  json names = json::object();
  for (const json& side : {before, now}) {
    for (const auto& [name, value] : side.items()) names[name] = nullptr;
  }
  for (const auto& [name, unused] : names.items()) {
    const json old = before.contains(name) ? before[name] : json();
    const json later = now.contains(name) ? now[name] : json();
    if (old == later) continue;
    if (prefix.empty() && (old.is_object() || later.is_object())) {
      add_differences(old.is_object() ? old : json::object(),
                      later.is_object() ? later : json::object(), name + ".", texts);
      continue;
    }
    const bool is_setting = prefix == "settings." || prefix == "dimensions.";
    texts.push_back(fmt::format("{}: {}, now {}", is_setting ? name : prefix + name,
                                shown_value(old), shown_value(later)));
  }
}

void refuse_other_study(const fs::path& path, const json& before, const json& now) {
  if (before == now) return;
  std::vector<std::string> texts;
  add_differences(before, now, "", texts);
  // It follows from the others, unless files have changed that the command names.
  if (texts.size() > 1 && texts.back().starts_with("settings_sha256")) texts.pop_back();
  if (texts.size() > kMostDifferences) texts.resize(kMostDifferences);
  const bool only_digest = texts.size() == 1 && texts[0].starts_with("settings_sha256");
  throw InputError(
      InputKind::settings,
      {.where = path.parent_path(),
       .found = only_digest
                    ? "a study whose settings were others: files that the command names, "
                      "or defaults of convoy, have changed"
                    : "another study: " + join(texts, "; "),
       .expected = "the study that this command describes",
       .hint = "another run.name starts a new study; the same command as before resumes "
               "this one"});
}

void refuse_run(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::exists(folder / "config.yaml", ignored)) return;
  throw InputError(InputKind::settings, {.where = folder,
                                         .found = "the folder of a run",
                                         .expected = "a new folder, or that of a study",
                                         .hint = "choose another run.name"});
}

void claim(const fs::path& path, const json& identity) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) {
    refuse_run(path.parent_path());
    return write_atomically(path, json_text(identity, 2) + "\n");
  }
  const JsonSource source{.where = path, .expected = "a plan that convoy has written"};
  refuse_other_study(path, parse_json(read_text(path, kMostJsonBytes), source), identity);
}

}  // namespace

StudyFolder::StudyFolder(const StudyPlan& plan) : path_(plan.folder) {
  make_folders(path_);
  lock_ = locked_study(path_);
  claim(path_ / kPlanFile, plan.identity);
}

void StudyFolder::write_results(const StudyPlan& plan,
                                const std::vector<RowResult>& results) const {
  write_atomically(path_ / "sweep.csv", results_csv(plan, results));
  write_atomically(path_ / "sweep.json",
                   json_text(results_json(plan, results), 2) + "\n");
}

}  // namespace convoy
