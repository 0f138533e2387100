// SPDX-License-Identifier: Apache-2.0

#include "apps/study_command.h"

#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "apps/cluster_arguments.h"
#include "apps/pictures.h"
#include "convoy/base/clock.h"
#include "convoy/base/printable.h"
#include "convoy/base/text.h"
#include "convoy/monitor/progress.h"
#include "convoy/plot/plot.h"
#include "convoy/study/study.h"
#include "convoy/study/study_chart.h"
#include "convoy/study/study_report.h"

namespace convoy {
namespace {

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

}  // namespace

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
      "stop hopeless runs early: one of three goes on, or of N with --halving=N "
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
    fmt::print("{}\n", results_json(plan, end.results).dump(2));
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
  return end.code;
}

}  // namespace convoy
