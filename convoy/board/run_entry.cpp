// SPDX-License-Identifier: Apache-2.0

#include "convoy/board/run_entry.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "convoy/settings/setting_changes.h"

namespace convoy {
namespace {

using json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr std::size_t kMostProblemBytes = 500;
constexpr std::size_t kMostEntries = 20'000;

json known(double number) { return std::isfinite(number) ? json(number) : json(nullptr); }

json score_entry(const std::optional<RunScore>& score) {
  if (!score) return nullptr;
  return {{"loss", known(score->loss)}, {"accuracy", known(score->accuracy)}};
}

std::optional<RunScore> training_score(const RunRecord& run) {
  if (run.result) return run.result->train;
  if (run.epochs.empty()) return {};
  return run.epochs.back().score;
}

json problems_entry(const std::vector<std::string>& problems) {
  json list = json::array();
  for (const std::string& problem : problems) {
    list.push_back(problem.substr(0, kMostProblemBytes));
  }
  return list;
}

json changed_settings(const Settings& settings) {
  json changed = json::object();
  for (const SettingChange& change : setting_changes({}, settings)) {
    if (change.name != "run.dir" && change.name != "run.name") {
      changed[change.name] = change.now;
    }
  }
  return changed;
}

bool is_inside(const fs::path& path, const fs::path& folder) {
  const fs::path relative = path.lexically_relative(folder);
  return !relative.empty() && *relative.begin() != "..";
}

}  // namespace

bool has_own_sweep(const fs::path& folder) {
  std::error_code error;
  return fs::symlink_status(folder / "sweep.json", error).type() ==
         fs::file_type::regular;
}

json run_entry(const RunRecord& run, const std::string& id) {
  const auto& result = run.result;
  const auto& settings = run.settings;
  const int epochs = run.epochs.empty() ? 0 : run.epochs.back().epoch;
  return {{"id", id},
          {"name", run.name()},
          {"state", name_of(run.state)},
          {"problems", problems_entry(run.problems)},
          {"model", settings ? json(settings->model.name) : json(nullptr)},
          {"data", settings ? json(settings->data.name) : json(nullptr)},
          {"strategy", result ? json(result->strategy) : json(nullptr)},
          {"ranks", result ? json(result->ranks) : json(nullptr)},
          {"epoch", result ? result->epochs : epochs},
          {"step", run.last_step},
          {"scores",
           {{"train", score_entry(training_score(run))},
            {"val", score_entry(run.score("val"))},
            {"test", score_entry(run.score("test"))}}},
          {"training_seconds", known(run.training_seconds().value_or(NAN))},
          {"images_per_second", known(run.images_per_second().value_or(NAN))},
          {"settings", settings ? changed_settings(*settings) : json::object()}};
}

json unread_entry(const std::string& id, const std::string& problem) {
  return {{"id", id},
          {"name", fs::path(id).filename().string()},
          {"state", "broken"},
          {"problems", {problem}}};
}

std::string files_fingerprint(const fs::path& folder) {
  std::string text;
  for (const char* name : {"config.yaml", "metrics.jsonl", "summary.json"}) {
    struct stat status {};
    if (::lstat((folder / name).c_str(), &status) != 0) continue;
    text += fmt::format("{}:{}:{}:{}.{};", name, status.st_ino, status.st_size,
                        status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
  }
  return text;
}

std::optional<std::string> link_out_of(const fs::path& folder) {
  std::error_code error;
  const fs::path real = fs::canonical(folder, error);
  std::size_t count = 0;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().lexically_relative(folder).string();
    if (++count > kMostEntries) return name;
    std::error_code dangling;
    if (!entry->is_symlink(dangling)) continue;
    const fs::path target = fs::canonical(entry->path(), dangling);
    if (!dangling && !is_inside(target, real)) return name;
  }
  return {};
}

}  // namespace convoy
