// SPDX-License-Identifier: Apache-2.0

#include "convoy/landscape/trajectory.h"

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/checkpoint/run_folder.h"
#include "convoy/setup/setting_arguments.h"
#include "convoy/system/memory.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;

InputError bad_run(const fs::path& run, std::string found, std::string expected,
                   std::string hint) {
  return {InputKind::data,
          {.where = run,
           .found = std::move(found),
           .expected = std::move(expected),
           .hint = std::move(hint)}};
}

/// Name, size and time of every save.
std::string describe_files(const std::vector<WeightSave>& saves) {
  std::string text;
  for (const WeightSave& save : saves) {
    std::error_code gone;  // the numbers then say so
    text += fmt::format("{} {} {}\n", save.path.filename().string(),
                        fs::file_size(save.path, gone),
                        fs::last_write_time(save.path, gone).time_since_epoch().count());
  }
  return text;
}

void expect_at_rest(const fs::path& run) {
  if (!RunFolder::is_in_use(run)) return;
  throw bad_run(run, "a run that a process is writing", "a run that has ended",
                "wait for its end");
}

void expect_room_for(const Trajectory& trajectory, const LaidOutModel& model) {
  const std::uint64_t needed = trajectory.saves.size() *
                               (model.layout.size() + model.statistics_layout.size()) *
                               sizeof(float);
  const std::uint64_t available = available_memory_bytes();
  if (needed <= available) return;
  throw bad_run(trajectory.run,
                fmt::format("{} saves, {}", trajectory.saves.size(), human_bytes(needed)),
                fmt::format("at most {}, the free memory", human_bytes(available)),
                "fewer runs, or a smaller checkpoint.saves_per_epoch");
}

std::string name_of_folder(const fs::path& run) {
  std::error_code ignored;
  return fs::weakly_canonical(run, ignored).filename().string();
}

/// "lenet5 on fashion_mnist"
std::string subject(const fs::path& run) {
  const Settings settings = SettingArguments{.run_config = run_config(run)}.resolve();
  return settings.model.name + " on " + settings.data.name;
}

}  // namespace

fs::path run_config(const fs::path& run) {
  const fs::path config = run / kConfigFile;
  std::error_code none;
  if (!fs::is_directory(run, none)) {
    throw storage_error(run, "find a run's folder here", none ? none.value() : ENOTDIR);
  }
  if (fs::is_regular_file(config, none)) return config;
  throw bad_run(run, "no config.yaml", "the folder of a run", "");
}

void expect_one_model(const std::vector<fs::path>& runs) {
  const std::string first = subject(runs.front());
  for (const fs::path& run : runs) {
    const std::string own = subject(run);
    if (own == first) continue;
    throw bad_run(run, own, fmt::format("{}, as in {}", first, runs.front().string()),
                  "a landscape is that of one model and its data");
  }
}

Trajectory read_trajectory(const fs::path& run, const LaidOutModel& model) {
  run_config(run);
  expect_at_rest(run);
  Trajectory trajectory{
      .run = run, .name = name_of_folder(run), .saves = list_weight_saves(run)};
  if (trajectory.saves.empty()) {
    throw bad_run(run, "no saved weights", "a run with a folder of saves",
                  "train with checkpoint.saves_per_epoch=3");
  }
  expect_room_for(trajectory, model);
  trajectory.on_disk = describe_files(trajectory.saves);
  for (const WeightSave& save : trajectory.saves) {
    OwnedWeights& weights = trajectory.weights.emplace_back(model);
    load_values(save.path, {{model.layout, weights.values},
                            {model.statistics_layout, weights.statistics}});
  }
  expect_unchanged(trajectory);
  return trajectory;
}

void expect_unchanged(const Trajectory& trajectory) {
  expect_at_rest(trajectory.run);
  if (describe_files(list_weight_saves(trajectory.run)) == trajectory.on_disk) return;
  throw bad_run(trajectory.run, "saved weights that have changed meanwhile",
                "a run that no process changes", "run the command again");
}

}  // namespace convoy
