// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "apps/cluster_arguments.h"
#include "apps/eval_several.h"
#include "apps/eval_target.h"
#include "apps/pictures.h"
#include "convoy/base/error.h"
#include "convoy/base/json.h"
#include "convoy/base/printable.h"
#include "convoy/base/text.h"
#include "convoy/checkpoint/checkpoint.h"
#include "convoy/evaluate/evaluation_report.h"
#include "convoy/evaluate/shared_evaluation.h"
#include "convoy/plot/confusion_chart.h"
#include "convoy/plot/plot.h"
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

/// An evaluated checkpoint.
struct EvaluatedCheckpoint {
  fs::path checkpoint;
  std::uint64_t step;
  std::string weights;
  EvaluationResult result;
};

/// A checkpoint and its samples, in memory. The constructor throws InputError.
struct LoadedCheckpoint {
  LoadedCheckpoint(const Settings& own, const EvalArguments& arguments,
                   const fs::path& from)
      : settings(own),
        checkpoint(from),
        work(load_workload(own)),
        set(chosen_set(work, arguments.split)),
        state(load_checkpoint(
            from, {{work.layout, values}, {work.statistics_layout, statistics}})),
        weights(weights_sha256(work.layout, values, work.statistics_layout, statistics)) {
    set.normalization = state.normalization;
  }

  LoadedCheckpoint(const LoadedCheckpoint&) = delete;
  LoadedCheckpoint& operator=(const LoadedCheckpoint&) = delete;

  Settings settings;
  fs::path checkpoint;
  Workload work;
  EvaluationSet set;
  FlatBuffer values{work.layout}, statistics{work.statistics_layout};
  CheckpointState state;
  std::string weights;
};

/// Names the files that this rank could not decode.
void print_left_out(const Dataset& data) {
  if (!data.files || !data.files->damaged) return;
  for (const std::string& file : data.files->damaged->take_news()) {
    fmt::print(stderr, "convoy: skipped {}\n", printable(file));
  }
}

EvaluatedCheckpoint evaluate_on(Comm& comm, const LoadedCheckpoint& loaded,
                                const EvalArguments& arguments) {
  expect_same_on_all_ranks(comm, loaded.set.samples.size(), loaded.weights);
  ThreadTeam team(thread_count(loaded.settings));
  EvaluationOptions options = evaluation_options(loaded.settings);
  options.predictions = !arguments.predictions.empty();
  Evaluator evaluator(loaded.work.model, loaded.work.layout, options, team);
  EvaluationResult result =
      evaluate(loaded.set, {loaded.values, loaded.statistics}, evaluator, comm);
  print_left_out(loaded.set.data);
  return {loaded.checkpoint, loaded.state.step, loaded.weights, std::move(result)};
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
  return json_text(json, 2) + "\n";
}

/// Writes all files; returns their names.
std::vector<std::string> write_files(const EvalArguments& arguments,
                                     const Settings& settings, const fs::path& out,
                                     const EvaluatedCheckpoint& evaluated) {
  const EvaluationResult& result = evaluated.result;
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

/// Evaluates on all ranks; only the first writes and prints.
EvaluatedCheckpoint eval_loaded(const EvalArguments& arguments,
                                const LoadedCheckpoint& loaded, const fs::path& out,
                                Comm& comm) {
  EvaluatedCheckpoint evaluated = evaluate_on(comm, loaded, arguments);
  if (!comm.is_first()) return evaluated;
  const std::vector<std::string> names =
      write_files(arguments, loaded.settings, out, evaluated);
  const std::string report =
      fmt::format("{}\n\n{}\n{}{}\n", evaluated.checkpoint.string(),
                  evaluation_text(evaluated.result), shares_text(evaluated.result),
                  result_line(evaluated.result, arguments.split));
  fmt::print("{}", printable(report));
  fmt::print("written to {}\n", printable(join(names, ", ")));
  return evaluated;
}

ExitCode eval_as_rank(const EvalArguments& arguments, const Settings& settings,
                      const EvalTarget& target, Comm& comm) {
  const LoadedCheckpoint loaded(settings, arguments, target.checkpoint());
  eval_loaded(arguments, loaded, arguments.out.empty() ? target.folder() : arguments.out,
              comm);
  return ExitCode::done;
}

OnDamaged warn_unless(bool is_launched) {
  return [is_launched](const std::string& text) {
    if (!is_launched) fmt::print(stderr, "convoy: {}\n", printable(text));
  };
}

/// Evaluates one target after the other on a rank of a job.
class TargetEvaluations final : public EvaluatedTarget {
 public:
  /// Borrows everything for as long as it lives.
  TargetEvaluations(const EvalArguments& arguments, const ClusterSettings& cluster,
                    Comm& comm)
      : arguments_(arguments), cluster_(cluster), comm_(comm) {}

  void load(const std::string& name) override {
    loaded_.reset();
    target_ = std::make_unique<EvalTarget>(name, warn_unless(!comm_.is_first()));
    const fs::path& checkpoint = target_->checkpoint();
    Settings settings = settings_of_run(arguments_.settings, checkpoint / kConfigFile);
    settings.cluster = cluster_;
    loaded_ = std::make_unique<LoadedCheckpoint>(settings, arguments_, checkpoint);
  }

  EvaluatedStep evaluate(const std::string& name) override {
    const EvaluatedCheckpoint evaluated =
        eval_loaded(arguments_, *loaded_, results_folder(name), comm_);
    return {evaluated.step, evaluated.result.sum};
  }

 private:
  /// No two targets write to the same folder.
  fs::path results_folder(const std::string& name) {
    const fs::path first = arguments_.out.empty()
                               ? target_->folder()
                               : arguments_.out / fs::path(name).filename();
    fs::path folder = first;
    for (int number = 2; !used_.insert(folder).second; ++number) {
      folder = first / fmt::format("eval-{}", number);
    }
    return folder;
  }

  const EvalArguments& arguments_;
  const ClusterSettings& cluster_;
  Comm& comm_;
  std::unique_ptr<EvalTarget> target_;
  std::unique_ptr<LoadedCheckpoint> loaded_;
  std::set<fs::path> used_;
};

void refuse_predictions(const EvalArguments& arguments, std::size_t targets) {
  if (arguments.predictions.empty()) return;
  throw InputError(InputKind::settings,
                   {.where = "--predictions",
                    .found = fmt::format("{} targets", targets),
                    .expected = "one target, whose predictions the file has",
                    .hint = "evaluate the targets one by one"});
}

ExitCode eval(const EvalArguments& arguments, const std::vector<std::string>& targets,
              const std::vector<std::string>& command_line) {
  refuse_predictions(arguments, targets.size());
  const Environment environment = current_environment();
  Settings settings;
  settings.cluster = has_given_settings(environment)
                         ? given_settings(environment).cluster
                         : cluster_settings(arguments.settings);
  return work_on_ranks(settings, environment, command_line,
                       [&](const Settings& own, Comm& comm) {
                         TargetEvaluations evaluations(arguments, own.cluster, comm);
                         return eval_several(targets, arguments.split, comm, evaluations);
                       });
}

ExitCode eval(const EvalArguments& arguments, const std::string& name,
              const std::vector<std::string>& command_line) {
  const Environment environment = current_environment();
  const bool is_launched = has_given_settings(environment);
  const EvalTarget target(name, warn_unless(is_launched));
  const Settings settings =
      is_launched
          ? given_settings(environment)
          : settings_of_run(arguments.settings, target.checkpoint() / kConfigFile);
  return work_on_ranks(settings, environment, command_line,
                       [&](const Settings& own, Comm& comm) {
                         return eval_as_rank(arguments, own, target, comm);
                       });
}

}  // namespace

void add_eval_command(CLI::App& app, Action& action,
                      const std::vector<std::string>& command_line) {
  auto arguments = std::make_shared<EvalArguments>();
  CLI::App* command = app.add_subcommand(
      "eval", "Evaluate runs or checkpoints on their test set, or on another");
  command->footer(
      "Examples:\n"
      "  convoy eval runs/NAME\n"
      "  convoy eval runs/NAME/checkpoints/00011250 data.root=/other/copy\n"
      "  convoy eval runs/NAME --split val\n"
      "  convoy eval runs                       every run in the folder, with a table\n"
      "  convoy eval runs/A runs/B --split train\n"
      "  convoy eval -n 4 runs/NAME --predictions predictions.csv   on four processes\n");
  command
      ->add_option("target", arguments->target,
                   "a run's folder, a folder of runs, a checkpoint, or "
                   "s3://bucket/prefix/run; several may be given")
      ->required();
  command
      ->add_option("--split", arguments->split,
                   "the samples to evaluate on: train, val or test")
      ->check(CLI::IsMember({"train", "val", "test"}));
  command->add_option(
      "--out", arguments->out,
      "folder for eval.json and confusion.png (default: the run's folder); of several "
      "targets, each has a folder in it");
  command->add_option("--predictions", arguments->predictions,
                      "CSV file for the prediction of each sample");
  add_setting_flags(*command, arguments->settings);
  add_cluster_flags(*command, arguments->settings);
  command->callback([arguments, command_line, &action] {
    action = [arguments, command_line] {
      const EvalTargets targets =
          eval_targets(arguments->target, arguments->settings.assignments);
      return targets.several ? eval(*arguments, targets.names, command_line)
                             : eval(*arguments, targets.names.front(), command_line);
    };
  });
}

}  // namespace convoy
