// SPDX-License-Identifier: Apache-2.0

#include "convoy/compare/run_record.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include "convoy/base/error.h"
#include "convoy/base/exit_code.h"
#include "convoy/checkpoint/checkpoint.h"
#include "convoy/checkpoint/run_folder.h"
#include "convoy/compare/run_files.h"
#include "convoy/setup/setting_arguments.h"
#include "convoy/system/file.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostConfigBytes = std::size_t{1} << 20;

/// A file that is not there is no problem: the run has not come so far. Other errors are.
template <class Read>
void read_if_there(const fs::path& path, RunRecord& run, const Read& read) try {
  std::error_code ignored;
  if (fs::exists(path, ignored)) read();
} catch (const InputError& error) {
  std::error_code ignored;
  // It was removed in between.
  if (fs::exists(path, ignored)) run.problems.emplace_back(error.what());
}

bool is_in_use(const fs::path& folder) try {
  return RunFolder::is_in_use(folder);
} catch (const InputError&) {
  return false;
}

}  // namespace

std::string_view name_of(RunState state) {
  constexpr std::array<std::string_view, 6> kNames = {"finished", "stopped",    "failed",
                                                      "running",  "unfinished", "broken"};
  return kNames[static_cast<std::size_t>(state)];
}

RunState state_of(const RunRecord& run, bool in_use) {
  if (!run.problems.empty()) return RunState::broken;
  if (in_use) return RunState::running;
  if (!run.result) return RunState::unfinished;
  if (run.result->exit_code == static_cast<int>(ExitCode::stopped)) {
    return RunState::stopped;
  }
  return run.result->exit_code == 0 ? RunState::finished : RunState::failed;
}

std::optional<RunScore> RunRecord::score(std::string_view split) const {
  if (split == "test" && result && result->test) return result->test;
  const auto last = std::find_if(
      evaluations.rbegin(), evaluations.rend(),
      [&](const RunEvaluation& evaluation) { return evaluation.split == split; });
  if (last == evaluations.rend()) return {};
  return last->score;
}

std::optional<double> RunRecord::training_seconds() const {
  if (result) return result->training_seconds;
  if (epochs.empty()) return {};
  double sum = 0;
  for (const RunEpoch& epoch : epochs) sum += epoch.seconds;
  return sum;
}

std::optional<double> RunRecord::images_per_second() const {
  if (result) return result->images_per_second;
  if (epochs.empty()) return {};
  return epochs.back().images_per_second;
}

RunRecord read_run_record(const fs::path& folder, std::string* metrics) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    throw storage_error(folder, "find a run's folder here",
                        error ? error.value() : ENOTDIR);
  }
  RunRecord run{.folder = folder.lexically_normal()};
  if (run.folder.filename().empty()) run.folder = run.folder.parent_path();
  // A run that is not in use now has written its summary, if it ever will.
  const bool in_use = is_in_use(folder);
  read_if_there(folder / "summary.json", run,
                [&] { run.result = read_summary(folder / "summary.json"); });
  read_if_there(folder / "metrics.jsonl", run, [&] {
    std::string text = read_metrics(folder / "metrics.jsonl", run);
    if (metrics != nullptr) *metrics = std::move(text);
  });
  read_if_there(folder / kConfigFile, run, [&] {
    read_text(folder / kConfigFile,
              kMostConfigBytes);  // refuses a file that is too large
    run.settings = SettingArguments{.run_config = folder / kConfigFile}.resolve();
  });
  run.state = state_of(run, in_use);
  return run;
}

std::optional<RunEvaluation> first_reaching(const RunRecord& run, double target) {
  const bool validated = run.score("val").has_value();
  for (const RunEvaluation& each : run.evaluations) {
    if (each.split == (validated ? "val" : "test") && each.score.accuracy >= target) {
      return each;
    }
  }
  return {};
}

}  // namespace convoy
