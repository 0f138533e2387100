// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/cluster_arguments.h"
#include "apps/eval_target.h"
#include "apps/pictures.h"
#include "convoy/base/error.h"
#include "convoy/base/printable.h"
#include "convoy/base/text.h"
#include "convoy/checkpoint/checkpoint.h"
#include "convoy/comm/alone_comm.h"
#include "convoy/evaluate/evaluation_report.h"
#include "convoy/evaluate/shared_evaluation.h"
#include "convoy/plot/confusion_chart.h"
#include "convoy/plot/plot.h"
#include "convoy/run/job_session.h"
#include "convoy/setup/workload.h"
#include "convoy/system/file.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;

struct EvalArguments {
  std::string target;
  std::string split = "test";
  fs::path out, predictions;
  SettingArguments settings;
};

/// Returns the cluster settings of the command line. The number of ranks and threads of
/// the training does not matter.
ClusterSettings own_cluster(const SettingArguments& settings) {
  SettingArguments own;
  std::ranges::copy_if(
      settings.assignments, std::back_inserter(own.assignments),
      [](const std::string& assignment) { return assignment.starts_with("cluster."); });
  return own.resolve().cluster;
}

/// Returns the settings of the checkpoint's run, overridden by the command line.
Settings eval_settings(const EvalArguments& arguments, const fs::path& checkpoint) {
  SettingArguments all = arguments.settings;
  all.run_config = checkpoint / kConfigFile;
  Settings settings = all.resolve();
  settings.cluster = own_cluster(arguments.settings);
  return settings;
}

/// An evaluated checkpoint.
struct EvaluatedCheckpoint {
  fs::path checkpoint;
  std::uint64_t step;
  std::string weights;
  EvaluationResult result;
};

/// The samples of the split. Throws InputError if there are none.
EvaluationSet chosen_set(const Workload& work, const std::string& split) {
  EvaluationSet set = evaluation_set(work, split);
  if (!set.samples.empty()) return set;
  throw InputError(InputKind::settings,
                   {.where = "--split " + split,
                    .found = "no samples",
                    .expected = "a run with a validation set",
                    .hint = "data.val_fraction and data.split make one"});
}

EvaluatedCheckpoint evaluate_on(Comm& comm, const Settings& settings,
                                const EvalArguments& arguments,
                                const fs::path& checkpoint) {
  const Workload work = load_workload(settings);
  EvaluationSet set = chosen_set(work, arguments.split);
  FlatBuffer values(work.layout), statistics(work.statistics_layout);
  const CheckpointState state = load_checkpoint(
      checkpoint, {{work.layout, values}, {work.statistics_layout, statistics}});
  const std::string weights =
      weights_sha256(work.layout, values, work.statistics_layout, statistics);
  expect_same_on_all_ranks(comm, set.samples.size(), weights);
  set.normalization = state.normalization;

  ThreadTeam team(thread_count(settings));
  EvaluationOptions options = evaluation_options(settings);
  options.predictions = !arguments.predictions.empty();
  Evaluator evaluator(work.model, work.layout, options, team);
  return {checkpoint, state.step, weights,
          evaluate(set, {values, statistics}, evaluator, comm)};
}

std::string eval_json(const EvaluatedCheckpoint& evaluated, const Settings& settings,
                      const std::string& split) {
  nlohmann::ordered_json json = evaluation_json(evaluated.result);
  json["checkpoint"] = evaluated.checkpoint.string();
  json["step"] = evaluated.step;
  json["model"] = settings.model.name;
  json["data"] = settings.data.name;
  json["split"] = split;
  json["weights_sha256"] = evaluated.weights;
  // A path may contain any bytes, JSON only UTF-8.
  const auto replace = nlohmann::ordered_json::error_handler_t::replace;
  return json.dump(2, ' ', false, replace) + "\n";
}

/// Writes all files; returns their names.
std::vector<std::string> write_files(const EvalArguments& arguments,
                                     const Settings& settings, const EvalTarget& target,
                                     const EvaluatedCheckpoint& evaluated) {
  const EvaluationResult& result = evaluated.result;
  const fs::path out = arguments.out.empty() ? target.folder() : arguments.out;
  make_folders(out);
  const std::string title = fmt::format("{} on {}, step {}", settings.model.name,
                                        settings.data.name, evaluated.step);
  std::vector<std::string> names;
  const auto write = [&](const fs::path& path, const std::string& content) {
    write_atomically(path, content);
    names.push_back(path.string());
  };
  write(out / "eval.json", eval_json(evaluated, settings, arguments.split));
  if (result.matrix.has_pairs() && can_draw()) {
    draw(confusion_chart(result.matrix, title), out / "confusion.png");
    names.push_back((out / "confusion.png").string());
  }
  if (arguments.predictions.empty()) return names;
  write(arguments.predictions, predictions_csv(result));
  return names;
}

/// What all ranks do; only the first writes and prints.
ExitCode eval_as_rank(const EvalArguments& arguments, const Settings& settings,
                      const EvalTarget& target, Comm& comm) {
  const EvaluatedCheckpoint evaluated =
      evaluate_on(comm, settings, arguments, target.checkpoint());
  if (!comm.is_first()) return ExitCode::done;
  const std::vector<std::string> names =
      write_files(arguments, settings, target, evaluated);
  const std::string report =
      fmt::format("{}\n\n{}\n{}{}\n", evaluated.checkpoint.string(),
                  evaluation_text(evaluated.result), shares_text(evaluated.result),
                  result_line(evaluated.result, arguments.split));
  fmt::print("{}", printable(report));
  fmt::print("written to {}\n", printable(join(names, ", ")));
  return ExitCode::done;
}

ExitCode eval(const EvalArguments& arguments,
              const std::vector<std::string>& command_line) {
  const Environment environment = current_environment();
  const bool is_launched = has_given_settings(environment);
  const EvalTarget target(arguments.target, [&](const std::string& text) {
    if (!is_launched) fmt::print(stderr, "convoy: {}\n", printable(text));
  });
  const Settings settings = is_launched ? given_settings(environment)
                                        : eval_settings(arguments, target.checkpoint());
  const JobPlacement placement = placement_without_servers(settings, environment);
  if (placement.role == ProcessRole::launch) {
    return launch_ranks(settings, placement, command_line, /*quietly=*/false);
  }
  if (placement.role == ProcessRole::rank) {
    return join_and_work(settings, placement, job_callbacks(),
                         [&](const Settings& own, Comm& comm, Membership&) {
                           return eval_as_rank(arguments, own, target, comm);
                         });
  }
  AloneComm alone;
  return eval_as_rank(arguments, settings, target, alone);
}

}  // namespace

void add_eval_command(CLI::App& app, Action& action,
                      const std::vector<std::string>& command_line) {
  auto arguments = std::make_shared<EvalArguments>();
  CLI::App* command = app.add_subcommand(
      "eval", "Evaluate a run or checkpoint on its test set, or on another");
  command->footer(
      "Examples:\n"
      "  convoy eval runs/NAME\n"
      "  convoy eval runs/NAME/checkpoints/00011250 data.root=/other/copy\n"
      "  convoy eval runs/NAME --split val\n"
      "  convoy eval -n 4 runs/NAME --predictions predictions.csv   on four processes\n");
  command
      ->add_option("target", arguments->target,
                   "a run's folder, a checkpoint, or s3://bucket/prefix/run")
      ->required();
  command
      ->add_option("--split", arguments->split,
                   "the samples to evaluate on: train, val or test")
      ->check(CLI::IsMember({"train", "val", "test"}));
  command->add_option(
      "--out", arguments->out,
      "folder for eval.json and confusion.png (default: the run's folder)");
  command->add_option("--predictions", arguments->predictions,
                      "CSV file for the prediction of each sample");
  add_setting_flags(*command, arguments->settings);
  add_cluster_flags(*command, arguments->settings);
  command->callback([arguments, command_line, &action] {
    action = [arguments, command_line] { return eval(*arguments, command_line); };
  });
}

}  // namespace convoy
