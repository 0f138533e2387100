// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/cluster_arguments.h"
#include "apps/commands.h"
#include "apps/pictures.h"
#include "convoy/base/clock.h"
#include "convoy/base/error.h"
#include "convoy/base/json.h"
#include "convoy/base/printable.h"
#include "convoy/base/text.h"
#include "convoy/monitor/progress.h"
#include "convoy/pages/report.h"
#include "convoy/plot/plot.h"
#include "convoy/study/study.h"
#include "convoy/study/study_chart.h"
#include "convoy/study/study_question.h"
#include "convoy/study/study_report.h"

namespace convoy {
namespace {

struct StudyArguments {
  SettingArguments settings;
  bool dry_run = false, as_json = false;
};

/// One line for the whole study: redrawn on a terminal, elsewhere printed from time to
/// time.
class StudyConsole {
 public:
  explicit StudyConsole(bool quiet)
      : quiet_(quiet), draws_(!quiet && is_terminal(stdout)) {}
  ~StudyConsole() { wipe(); }
  StudyConsole(const StudyConsole&) = delete;
  StudyConsole& operator=(const StudyConsole&) = delete;

  void line(const std::string& text) {
    wipe();
    fmt::print(quiet_ ? stderr : stdout, "{}\n", printable(text));
    std::fflush(stdout);
  }

  void progress(const StudyProgress& state) {
    const double seconds_between = draws_ ? 0.1 : 10;
    if (quiet_ || (shown_ && since_shown_.seconds() < seconds_between)) return;
    shown_ = true;
    since_shown_.restart();
    std::string text = fmt::format("runs      {}/{} done, {} running", state.done,
                                   state.runs, state.running);
    if (state.failed > 0) text += fmt::format(", {} failed", state.failed);
    if (state.seconds_left >= 0) {
      text += fmt::format(", about {} left", human_duration(state.seconds_left));
    }
    if (!draws_) return line(text);
    wipe();
    fmt::print("{}", text);
    std::fflush(stdout);
    drawn_ = true;
  }

 private:
  void wipe() {
    if (drawn_) std::fputs("\r\x1b[K", stdout);
    drawn_ = false;
  }

  bool quiet_, draws_;
  bool drawn_ = false;  // the cursor is at the end of the line
  bool shown_ = false;
  Stopwatch since_shown_;
};

/// Adds a flag with a value that sets an option of the study (study_options.h).
void add_study_option(CLI::App& command, StudyArguments& arguments,
                      const std::string& flag, const std::string& option,
                      const std::string& help) {
  command.add_option_function<std::string>(
      flag,
      [&arguments, option](const std::string& value) {
        arguments.settings.assignments.push_back(option + "=" + value);
      },
      help + " (" + option + ")");
}

/// Adds settings, -n, --jobs and the other flags that all studies have.
void add_study_flags(CLI::App& command, StudyArguments& arguments) {
  add_setting_flags(command, arguments.settings);
  add_cluster_flags(command, arguments.settings);
  const auto add = [&](const char* flag, const char* option, const char* help) {
    add_study_option(command, arguments, flag, option, help);
  };
  add("--jobs", "sweep.jobs", "runs at a time, on cores of their own; 0: measured");
  add("--limit", "sweep.limit", "refuse more runs than this (10000)");
  add("--trials", "sweep.trials", "draw this many combinations at random");
  add("--sweep-seed", "sweep.seed", "seed of the random combinations (1)");
  add("--score", "sweep.score", "what decides: accuracy or loss");
  command.add_flag_function(
      "--halving{3}",
      [&arguments](std::int64_t factor) {
        arguments.settings.assignments.push_back(fmt::format("sweep.halving={}", factor));
      },
      "stop hopeless runs early: one of three continues, or of N with --halving=N "
      "(sweep.halving)");
  command.add_flag_callback(
      "--simulate",
      [&arguments] {
        arguments.settings.assignments.emplace_back("sweep.simulate=true");
      },
      "run on a virtual cluster, as convoy simulate does (sweep.simulate)");
  command.add_flag("--dry-run", arguments.dry_run,
                   "print the combinations without running them");
  command.add_flag("--json", arguments.as_json, "print the result as JSON");
}

/// Writes the page of the study. A study has succeeded even if that fails.
void write_page(const StudyPlan& plan, bool quiet) try {
  const WrittenReport written = write_report({.runs = {plan.folder}});
  if (!quiet) fmt::print("report    {}\n", printable(written.page.string()));
} catch (const InputError& error) {
  fmt::print(stderr, "convoy: no page of the study: {}\n", printable(error.what()));
}

/// Plans the study, makes its runs and prints the result.
ExitCode make_study(StudyKind kind, const StudyArguments& arguments) {
  const StudyPlan plan = plan_study({.kind = kind,
                                     .assignments = arguments.settings.assignments,
                                     .files = arguments.settings.files});
  if (arguments.dry_run) {
    fmt::print("{}", printable(plan_text(plan)));
    return ExitCode::done;
  }
  StudyEnd end;
  {
    StudyConsole console(arguments.as_json);
    end = run_study(plan,
                    {.line = [&](const std::string& text) { console.line(text); },
                     .progress = [&](const StudyProgress& p) { console.progress(p); }});
  }
  if (arguments.as_json) {
    fmt::print("{}\n", json_text(results_json(plan, end.results), 2));
  } else {
    constexpr std::size_t kWide = 200;
    const std::size_t width =
        is_terminal(stdout) ? static_cast<std::size_t>(terminal_width(stdout)) : kWide;
    fmt::print("\n{}results   {}\n", printable(results_text(plan, end.results, width)),
               printable((plan.folder / "sweep.json").string()));
  }
  if (has_study_chart(plan, end.results) && can_draw()) {
    draw(study_chart(plan, end.results), plan.folder / "sweep.svg");
  }
  if (plan.first.run.report) write_page(plan, arguments.as_json);
  return end.code;
}

}  // namespace

void add_sweep_command(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<StudyArguments>();
  CLI::App* command =
      app.add_subcommand("sweep", "Train every combination of settings, and compare");
  command->footer(
      "Examples:\n"
      "  convoy sweep experiment=fashion_lenet5 optimizer.lr=0.01,0.05 "
      "train.seed='range(1,4)'\n"
      "  convoy sweep model='glob(resnet*)' data=cifar10 train.epochs=2\n"
      "  convoy sweep --trials 20 optimizer.lr='log_interval(1e-4,1e-1)'\n"
      "  convoy sweep --halving train.epochs=9 optimizer.momentum=0,0.5,0.9\n"
      "  convoy sweep sweep=async_delays --simulate    a file under configs/sweep\n\n"
      "Values: a,b,c  range(start,stop,step)  choice(a,b)  glob(pattern)\n"
      "        interval(a,b)  log_interval(a,b)  [1,2],[3,4]  'a text, with commas'\n"
      "The same command resumes what was interrupted. docs/studies.md says more.\n");
  add_study_flags(*command, *arguments);
  command->callback([arguments, &action] {
    action = [arguments] { return make_study(StudyKind::sweep, *arguments); };
  });
}

void add_kfold_command(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<StudyArguments>();
  CLI::App* command = app.add_subcommand(
      "kfold", "K-fold cross-validation of every combination of settings");
  command->footer(
      "Examples:\n"
      "  convoy kfold experiment=fashion_lenet5 optimizer.lr=0.005,0.01 "
      "train.batch_size=32,64\n"
      "  convoy kfold sweep=kfold_fashion_sgd          a file under configs/sweep\n"
      "  convoy kfold --folds 10 --fold-by stratified model=cnn1\n\n"
      "The grid is written as in convoy sweep. Each combination is trained once per "
      "fold,\n"
      "without it, and scored on it; the score is the mean over the folds.\n"
      "The same command resumes what was interrupted. docs/studies.md says more.\n");
  add_study_flags(*command, *arguments);
  add_study_option(*command, *arguments, "--folds", "sweep.folds", "number of folds (5)");
  add_study_option(
      *command, *arguments, "--fold-by", "sweep.fold_by",
      "order: as samples are; shuffled: by train.seed; stratified: by label");
  command->callback([arguments, &action] {
    action = [arguments] { return make_study(StudyKind::kfold, *arguments); };
  });
}

}  // namespace convoy
