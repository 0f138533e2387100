// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "apps/commands.h"
#include "convoy/base/error.h"
#include "convoy/base/file.h"
#include "convoy/report/confusion_picture.h"
#include "convoy/train/checkpoint.h"
#include "convoy/train/checkpoint_folder.h"
#include "convoy/train/evaluation.h"
#include "convoy/train/workload.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;

struct EvalArguments {
  fs::path target;
  fs::path out;
  SettingArguments settings;
};

/// Settings that the checkpoint was trained with, then what the command line says.
Settings eval_settings(const EvalArguments& arguments, const fs::path& checkpoint) {
  SettingArguments all = arguments.settings;
  all.files.insert(all.files.begin(), checkpoint / kConfigFile);
  return all.resolve();
}

ExitCode eval(const EvalArguments& arguments) {
  const fs::path checkpoint = find_checkpoint(
      arguments.target,
      [](const std::string& text) { fmt::print(stderr, "convoy: {}\n", text); });
  const Settings settings = eval_settings(arguments, checkpoint);
  const Workload work = load_workload(settings);
  FlatBuffer values(work.layout), statistics(work.statistics_layout);
  const CheckpointState state = load_checkpoint(
      checkpoint, {{work.layout, values}, {work.statistics_layout, statistics}});

  ThreadTeam team(chosen_threads(settings));
  Evaluator evaluator(work.model, work.layout, chosen_evaluation(settings), team);
  const EvaluationResult result =
      evaluator.run(all_of(work.data.test, state.normalization), {values, statistics});

  nlohmann::ordered_json json = classification_json(result.matrix);
  json["checkpoint"] = checkpoint.string();
  json["step"] = state.step;
  json["model"] = settings.model.name;
  json["data"] = settings.data.name;
  json["loss"] = result.sum.mean_loss();
  json["weights_sha256"] =
      weights_sha256(work.layout, values, work.statistics_layout, statistics);
  const fs::path out = arguments.out.empty()
                           ? run_of_checkpoint(checkpoint).value_or(checkpoint)
                           : arguments.out;
  make_folders(out);
  // A path may be anything, JSON only UTF-8.
  const auto replace = nlohmann::ordered_json::error_handler_t::replace;
  write_atomically(out / "eval.json", json.dump(2, ' ', false, replace) + "\n");
  const std::string title = fmt::format(
      "{} on {}, step {}: {:.2f} % of {}", settings.model.name, settings.data.name,
      state.step, 100 * result.sum.accuracy(), result.sum.samples);
  write_atomically(out / "confusion.svg", confusion_svg(result.matrix, title));

  fmt::print("{}\n\n{}\n{}\n", checkpoint.string(), classification_report(result.matrix),
             confusion_table(result.matrix));
  fmt::print("test accuracy {:.2f} % ({}/{}), loss {:.4f}\n", 100 * result.sum.accuracy(),
             result.sum.correct, result.sum.samples, result.sum.mean_loss());
  fmt::print("written to {} and {}\n", (out / "eval.json").string(),
             (out / "confusion.svg").string());
  return ExitCode::done;
}

}  // namespace

void add_eval_command(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<EvalArguments>();
  CLI::App* command =
      app.add_subcommand("eval", "Evaluate a run or checkpoint on its test set");
  command->footer(
      "Examples:\n"
      "  convoy eval runs/NAME\n"
      "  convoy eval runs/NAME/checkpoints/00011250 data.root=/other/copy\n");
  command->add_option("target", arguments->target, "a run's folder or a checkpoint")
      ->required();
  command->add_option("--out", arguments->out,
                      "folder for eval.json and confusion.svg (the run's folder)");
  arguments->settings.add_to(*command);
  command->callback(
      [arguments, &action] { action = [arguments] { return eval(*arguments); }; });
}

}  // namespace convoy
