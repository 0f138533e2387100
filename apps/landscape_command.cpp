// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "apps/cluster_arguments.h"
#include "apps/eval_target.h"
#include "apps/percent_line.h"
#include "apps/pictures.h"
#include "convoy/base/error.h"
#include "convoy/base/printable.h"
#include "convoy/base/text.h"
#include "convoy/compare/run_record.h"
#include "convoy/evaluate/evaluation_report.h"
#include "convoy/landscape/landscape_files.h"
#include "convoy/plot/plot.h"
#include "convoy/setup/workload.h"
#include "convoy/system/file.h"
#include "convoy/system/stop_request.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostPasses = 1'000'000'000;  // without --force

struct LandscapeArguments {
  std::vector<std::string> words;  // runs and settings
  std::vector<fs::path> runs;
  std::string directions = "pca", split = "test", batch_norm = "measure";
  LandscapeOptions options;
  std::size_t samples = 0;  // 0: all
  std::size_t batch_norm_samples = 2048;
  bool force = false;
  fs::path out;
  SettingArguments settings;
};

/// A run, or the runs of a folder. What is neither is refused where it is read.
void add_runs(const fs::path& folder, std::vector<fs::path>& runs) {
  const std::vector<fs::path> found = runs_below(folder);
  runs.insert(runs.end(), found.begin(), found.end());
  if (found.empty()) runs.push_back(folder);
}

/// A word with '=' is a setting, unless a folder has that name.
void sort_words(LandscapeArguments& arguments) {
  for (const std::string& word : arguments.words) {
    std::error_code none;
    const bool is_setting =
        word.find('=') != std::string::npos && !fs::exists(word, none);
    if (is_setting) arguments.settings.assignments.push_back(word);
    if (!is_setting) add_runs(word, arguments.runs);
  }
  if (!arguments.runs.empty()) return;
  throw InputError(InputKind::usage, {.where = "convoy landscape",
                                      .found = "no run",
                                      .expected = "the folders of one or more runs",
                                      .hint = "convoy landscape runs/NAME"});
}

/// Keeps `count` of the samples, evenly spaced; 0: all.
void thin_out(std::size_t count, std::vector<std::uint32_t>& samples) {
  if (count == 0 || count >= samples.size()) return;
  for (std::size_t i = 0; i < count; ++i)
    samples[i] = samples[i * samples.size() / count];
  samples.resize(count);
}

EvaluationSet thinned_set(const Workload& work, const std::string& split,
                          std::size_t count) {
  EvaluationSet set = chosen_set(work, split);
  thin_out(count, set.samples);
  return set;
}

/// "25 x 25 points and 19 saves x 10,000 samples = 6,440,000 forward passes"
std::string amount_text(std::size_t side, std::size_t saves, std::size_t samples) {
  return fmt::format("{0} x {0} points and {1} saves x {2} samples = {3} forward passes",
                     side, saves, with_commas(samples),
                     with_commas((side * side + saves) * samples));
}

void expect_feasible(const LandscapeArguments& arguments, std::size_t saves,
                     std::size_t samples) {
  const std::size_t side = arguments.options.side;
  if (arguments.force || (side * side + saves) * samples <= kMostPasses) return;
  throw InputError(
      InputKind::usage,
      {.where = "--grid " + std::to_string(side),
       .found = amount_text(side, saves, samples),
       .expected = fmt::format("at most {}", with_commas(kMostPasses)),
       .hint = "a smaller --grid, --samples for some of the samples, or --force"});
}

std::vector<Trajectory> read_trajectories(const LandscapeArguments& arguments,
                                          const LaidOutModel& model) {
  std::vector<Trajectory> trajectories;
  for (const fs::path& run : arguments.runs) {
    trajectories.push_back(read_trajectory(run, model));
  }
  return trajectories;
}

std::size_t count_saves(const std::vector<Trajectory>& trajectories) {
  std::size_t saves = 0;
  for (const Trajectory& trajectory : trajectories) saves += trajectory.saves.size();
  return saves;
}

std::optional<EvaluationSet> samples_to_measure(const LandscapeArguments& arguments,
                                                const Workload& work) {
  const bool measures =
      arguments.batch_norm == "measure" && !work.statistics_layout.trained().empty();
  if (!measures) return std::nullopt;
  return thinned_set(work, "train", arguments.batch_norm_samples);
}

/// What is evaluated: runs, data and samples.
struct LandscapeWork {
  /// Throws InputError.
  LandscapeWork(const LandscapeArguments& arguments, const Settings& settings)
      : work(load_workload(settings)),
        trajectories(read_trajectories(arguments, work)),
        set(thinned_set(work, arguments.split, arguments.samples)),
        measure_over(samples_to_measure(arguments, work)) {}
  LandscapeWork(const LandscapeWork&) = delete;  // sets refer to the data
  LandscapeWork& operator=(const LandscapeWork&) = delete;

  Workload work;
  std::vector<Trajectory> trajectories;
  EvaluationSet set;
  std::optional<EvaluationSet> measure_over;  // none: statistics are kept
};

LandscapeSubject subject_of(const LandscapeArguments& arguments, const Settings& settings,
                            const LandscapeWork& prepared) {
  const bool has_statistics = !prepared.work.statistics_layout.segments().empty();
  return {.model = settings.model.name,
          .data = settings.data.name,
          .split = arguments.split,
          .samples = prepared.set.samples.size(),
          .directions = arguments.directions,
          .batch_norm = has_statistics ? arguments.batch_norm : "none",
          .batch_norm_samples =
              prepared.measure_over ? prepared.measure_over->samples.size() : 0};
}

/// Evaluates on all ranks; nothing if that was stopped.
std::optional<Landscape> evaluate(const LandscapePlan& plan, const Settings& settings,
                                  const LandscapeWork& prepared, Comm& comm) {
  ThreadTeam team(thread_count(settings));
  PointLosses losses(
      prepared.work,
      {.network = network_options(settings, 0),
       .measure_over = prepared.measure_over ? &*prepared.measure_over : nullptr},
      team, comm);
  const StopRequest stop;
  PercentLine line("landscape", drawing_width(current_environment()));
  PointObserver observer;
  observer.should_stop = [&] { return stop.signal() != 0; };
  if (comm.is_first()) observer.progress = [&](double part) { line.update(part); };
  return evaluate_landscape(plan, prepared.trajectories, prepared.set, losses, team,
                            observer);
}

/// Writes all files; returns their names.
std::vector<std::string> write_files(const LandscapeArguments& arguments,
                                     const Landscape& landscape,
                                     const LandscapeSubject& subject) {
  const fs::path out = arguments.out.empty() ? arguments.runs.front() : arguments.out;
  make_folders(out);
  std::vector<std::string> names;
  const auto write = [&](const std::string& name, const std::string& content) {
    write_atomically(out / name, content);
    names.push_back((out / name).string());
  };
  write("landscape.json", landscape_json(landscape, subject));
  write("landscape.npy", landscape_npy(landscape));
  for (std::size_t i = 0; i < landscape.paths.size(); ++i) {
    write(fmt::format("trajectory-{}.npy", i + 1), trajectory_npy(landscape.paths[i]));
  }
  if (!can_draw()) return names;
  const auto picture = [&](const std::string& name, const Chart& chart) {
    draw(chart, out / name);
    names.push_back((out / name).string());
  };
  picture("landscape-contours.png", contour_chart(landscape, subject));
  picture("landscape-surface.png", surface_chart(landscape, subject));
  return names;
}

std::string result_text(const Landscape& landscape) {
  std::string text;
  for (const LandscapePath& path : landscape.paths) {
    const LossSum& first = path.points.front().score;
    const LossSum& last = path.points.back().score;
    text += fmt::format(
        "{}: {} saves, loss {:.4f} -> {:.4f}, accuracy {:.2f} % -> {:.2f} %\n", path.name,
        path.points.size(), first.mean_loss(), last.mean_loss(), 100 * first.accuracy(),
        100 * last.accuracy());
  }
  const std::size_t least = landscape.minimum();
  const PlanePoint at = landscape.grid.point(least);
  return text + fmt::format("least loss of the grid {:.4f} at ({:.4g}, {:.4g})\n",
                            landscape.scores[least].mean_loss(), at.x, at.y);
}

/// What all ranks do; only the first writes and prints.
ExitCode landscape_as_rank(const LandscapeArguments& arguments, const Settings& settings,
                           Comm& comm) {
  const LandscapeWork prepared(arguments, settings);
  const std::size_t saves = count_saves(prepared.trajectories);
  const std::size_t samples = prepared.set.samples.size();
  expect_feasible(arguments, saves, samples);
  const LandscapePlan plan =
      plan_landscape(prepared.work, prepared.trajectories, arguments.options);
  expect_same_on_all_ranks(comm, samples, plan.plane.sha256());
  if (comm.is_first()) {
    fmt::print("{}\n", amount_text(arguments.options.side, saves, samples));
    std::fflush(stdout);
  }
  const std::optional<Landscape> landscape = evaluate(plan, settings, prepared, comm);
  if (!landscape) return ExitCode::stopped;
  if (!comm.is_first()) return ExitCode::done;
  for (const Trajectory& trajectory : prepared.trajectories) expect_unchanged(trajectory);
  const std::vector<std::string> names =
      write_files(arguments, *landscape, subject_of(arguments, settings, prepared));
  fmt::print("{}", printable(result_text(*landscape)));
  fmt::print("written to {}\n", printable(join(names, ", ")));
  return ExitCode::done;
}

ExitCode landscape(LandscapeArguments arguments,
                   const std::vector<std::string>& command_line) {
  sort_words(arguments);
  arguments.options.directions =
      arguments.directions == "pca" ? Directions::pca : Directions::random;
  expect_one_model(arguments.runs);
  const Environment environment = current_environment();
  const Settings settings =
      has_given_settings(environment)
          ? given_settings(environment)
          : settings_of_run(arguments.settings, run_config(arguments.runs.front()));
  return work_on_ranks(settings, environment, command_line,
                       [&](const Settings& own, Comm& comm) {
                         return landscape_as_rank(arguments, own, comm);
                       });
}

constexpr const char* kExamples =
    "Examples:\n"
    "  convoy train experiment=fashion_lenet5 run.name=a checkpoint.saves_per_epoch=3\n"
    "  convoy landscape runs/a\n"
    "  convoy landscape runs/a runs/b --out pictures    the trajectories of two runs\n"
    "  convoy landscape runs/my_sweep --out pictures    those of all runs in a folder\n"
    "  convoy landscape -n 2 runs/a --grid 100 --samples 2000\n"
    "  convoy landscape runs/a --directions random --span 0.5\n"
    "Weights between saves are interpolated in the plane; of a model with batch norm, "
    "the\n"
    "running statistics of every point are measured over training samples, or kept "
    "along.\n";

void add_flags(CLI::App& command, LandscapeArguments& arguments) {
  command
      .add_option(
          "runs", arguments.words,
          "runs with saved weights, or folders of runs, and settings as name=value")
      ->required();
  command
      .add_option("--directions", arguments.directions,
                  "pca: the principal components of all saves; random: filter-normalised "
                  "directions around the last save of the first run")
      ->check(CLI::IsMember({"pca", "random"}))
      ->capture_default_str();
  command.add_option("--grid", arguments.options.side, "points in each direction")
      ->check(CLI::Range(2, 2000))
      ->capture_default_str();
  command
      .add_option("--span", arguments.options.span,
                  "the grid is from -SPAN to SPAN (default: around all saves, 1 with "
                  "random directions)")
      ->check(CLI::Range(1e-6, 1e6));
  command.add_option("--seed", arguments.options.seed, "of random directions")
      ->capture_default_str();
  command.add_option("--split", arguments.split, "the samples to evaluate on")
      ->check(CLI::IsMember({"train", "val", "test"}))
      ->capture_default_str();
  command.add_option("--samples", arguments.samples,
                     "how many of them, evenly spaced (default: all)");
  command
      .add_option("--batch-norm", arguments.batch_norm,
                  "running statistics of a point: measured over training samples, or the "
                  "saves' own, combined as the parameters are")
      ->check(CLI::IsMember({"measure", "keep"}))
      ->capture_default_str();
  command
      .add_option("--batch-norm-samples", arguments.batch_norm_samples,
                  "training samples to measure statistics over")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command.add_option("--out", arguments.out,
                     "folder for the results (default: the first run's folder)");
  command.add_flag("--force", arguments.force,
                   "even if that takes more than 1,000,000,000 forward passes");
}

}  // namespace

void add_landscape_command(CLI::App& app, Action& action,
                           const std::vector<std::string>& command_line) {
  auto arguments = std::make_shared<LandscapeArguments>();
  CLI::App* command =
      app.add_subcommand("landscape", "Loss landscape around the trajectories of runs");
  command->footer(kExamples);
  add_flags(*command, *arguments);
  add_config_flag(*command, arguments->settings);
  add_cluster_flags(*command, arguments->settings);
  command->callback([arguments, command_line, &action] {
    action = [arguments, command_line] { return landscape(*arguments, command_line); };
  });
}

}  // namespace convoy
