// SPDX-License-Identifier: Apache-2.0

#include "convoy/study/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "convoy/base/clock.h"
#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/job/cores.h"
#include "convoy/study/job_count.h"
#include "convoy/study/run_pool.h"
#include "convoy/study/study_folder.h"
#include "convoy/study/study_report.h"

namespace convoy {
namespace {

constexpr int kSignalCodes = 128;  // and the signal: how a shell counts

class StudyRunner {
 public:
  /// Borrows both for as long as it lives.
  StudyRunner(const StudyPlan& plan, const StudyView& view)
      : plan_(plan), view_(view), folder_(plan), rungs_(plan.runs.size(), 0) {}

  StudyEnd run() {
    view_.line(fmt::format("{:<10}{} combinations in {} runs, in {}", name_of(plan_.kind),
                           plan_.rows.size(), plan_.runs.size(), plan_.folder.string()));
    records_ = read_records(plan_);
    say_what_is_there();
    for (const int rung : rungs_of_plan()) {
      make_runs(rung);
      if (stop_requests() > 0) break;
      if (rung > 0) drop_hopeless(rung);
    }
    return finish();
  }

 private:
  /// The rungs, and 0 for the end of all runs.
  std::vector<int> rungs_of_plan() const {
    std::vector<int> rungs;
    if (plan_.options.halving > 0) {
      rungs = halving_rungs(plan_.first.train.epochs, plan_.options.halving);
    }
    rungs.push_back(0);
    return rungs;
  }

  void say_what_is_there() const {
    const auto complete = std::ranges::count_if(
        records_, [](const auto& record) { return record && is_complete(*record); });
    if (complete == 0) return;
    view_.line(fmt::format("resume    {} of {} runs were complete", complete,
                           plan_.runs.size()));
  }

  int choose_jobs(std::size_t left) const {
    if (plan_.options.jobs > 0) return plan_.options.jobs;
    const JobCount count = measure_job_count(plan_.first, left, plan_.options.simulate);
    view_.line("jobs      " + count.reason);
    return count.jobs;
  }

  /// Whether the run has come as far as the rung; 0: to its end.
  bool has_reached(std::size_t run, int rung) const {
    const std::optional<RunRecord>& record = records_[run];
    if (!record) return false;
    if (is_complete(*record)) return true;
    return rung > 0 && std::ranges::any_of(record->evaluations, [&](const auto& one) {
             return one.epoch >= rung;
           });
  }

  /// The runs that are left to make, apart from hopeless ones.
  std::vector<std::size_t> tasks_of(int rung) const {
    std::vector<std::size_t> runs;
    for (std::size_t run = 0; run < plan_.runs.size(); ++run) {
      const bool hopeless = rungs_[run] > 0 || failed_.contains(run);
      if (!hopeless && !has_reached(run, rung)) runs.push_back(run);
    }
    return runs;
  }

  std::vector<std::string> arguments_of(std::size_t run, int rung, int jobs) const {
    std::vector<std::string> words{
        "convoy", plan_.options.simulate ? "simulate" : "train", "--quiet"};
    for (const auto& file : plan_.files) {
      words.insert(words.end(), {"--config", file.string()});
    }
    words.insert(words.end(), plan_.fixed.begin(), plan_.fixed.end());
    const std::vector<std::string>& own = plan_.runs[run].assignments;
    words.insert(words.end(), own.begin(), own.end());
    // More runs than cores have one thread each.
    const bool crowded = jobs > static_cast<int>(usable_cores().size());
    if (crowded && plan_.first.cluster.threads == 0) words.push_back("cluster.threads=1");
    words.insert(words.end(),
                 {"run.dir=" + plan_.folder.string(), fmt::format("run.name={}", run),
                  "run.logbook=false", "run.report=false"});
    if (plan_.options.simulate) return words;
    words.insert(words.end(),
                 {"train.resume=auto", fmt::format("train.stop_epoch={}", rung)});
    return words;
  }

  /// A virtual cluster cannot be resumed: its run begins again.
  void remove_begun(std::size_t run) const {
    std::error_code error;
    std::filesystem::remove_all(run_folder(plan_, run), error);
    if (error) throw storage_error(run_folder(plan_, run), "remove this", error.value());
  }

  void make_runs(int rung) {
    const std::vector<std::size_t> runs = tasks_of(rung);
    if (runs.empty()) return;
    if (!pool_) pool_.emplace(choose_jobs(runs.size()));
    std::vector<PoolTask> tasks;
    for (const std::size_t run : runs) {
      if (plan_.options.simulate) remove_begun(run);
      tasks.push_back({run, arguments_of(run, rung, pool_->jobs())});
    }
    left_ = tasks.size();
    const Stopwatch watch;
    const auto seconds_left = [&] {
      const auto made = static_cast<double>(tasks.size() - left_);
      return made > 0 ? watch.seconds() / made * static_cast<double>(left_) : -1;
    };
    pool_->run(tasks,
               {.ended = [&](const PoolEnd& end) { take(end); },
                .tick = [&](std::size_t running) { show(running, seconds_left()); }});
  }

  int stop_requests() const { return pool_ ? pool_->stop_requests() : 0; }

  void show(std::size_t running, double seconds_left) const {
    std::size_t done = 0;
    for (std::size_t run = 0; run < plan_.runs.size(); ++run) {
      done += rungs_[run] > 0 || has_reached(run, 0) ? 1 : 0;
    }
    view_.progress({.done = done,
                    .runs = plan_.runs.size(),
                    .running = running,
                    .failed = failed_.size(),
                    .seconds_left = seconds_left});
  }

  void take(const PoolEnd& end) {
    --left_;
    std::error_code ignored;
    const std::filesystem::path folder = run_folder(plan_, end.number);
    if (std::filesystem::is_directory(folder, ignored)) {
      records_[end.number] = read_run_record(folder);
    }
    const bool as_asked = end.code == static_cast<int>(ExitCode::done) ||
                          end.code == static_cast<int>(ExitCode::diverged) ||
                          end.code == static_cast<int>(ExitCode::stopped) ||
                          (stop_requests() > 0 && end.code > kSignalCodes);
    if (as_asked) return;
    failed_[end.number] = end.code;
    view_.line(failure_text(end));
  }

  std::string failure_text(const PoolEnd& end) const {
    const ExitCodeMeaning* meaning = find_exit_code(end.code);
    std::string text =
        fmt::format("failed    run {} with exit code {}", end.number, end.code);
    if (end.code > kSignalCodes && meaning == nullptr) {
      text += fmt::format(" (signal {})", end.code - kSignalCodes);
    } else if (meaning != nullptr) {
      text += fmt::format(" ({})", meaning->meaning);
    }
    text += ": " + join(plan_.runs[end.number].assignments, " ");
    for (const std::string& line : end.last_lines) text += "\n          | " + line;
    return text;
  }

  std::vector<RowResult> results() const {
    std::vector<RowResult> all;
    for (const StudyRow& row : plan_.rows) {
      all.push_back(result_of(row, records_[row.run], rungs_[row.run]));
      if (failed_.contains(row.run)) all.back().state = RowState::failed;
    }
    return all;
  }

  /// Of the groups that have come to this rung, the best continue. Those that diverged or
  /// failed are left as they are.
  void drop_hopeless(int rung) {
    std::vector<RowResult> scored;
    for (const StudyRow& row : plan_.rows) {
      const bool goes_on = rungs_[row.run] == 0 && !failed_.contains(row.run);
      scored.push_back(goes_on ? result_of(row, records_[row.run], rung) : RowResult{});
    }
    std::vector<StudyGroup> alive = ranked_groups(plan_, scored);
    std::erase_if(alive,
                  [](const StudyGroup& one) { return one.state != RowState::halved; });
    const auto factor = static_cast<std::size_t>(plan_.options.halving);
    const std::size_t kept = (alive.size() + factor - 1) / factor;
    for (std::size_t i = kept; i < alive.size(); ++i) {
      for (const std::size_t row : alive[i].rows) rungs_[plan_.rows[row].run] = rung;
    }
    view_.line(fmt::format("halving   after epoch {}: {} of {} continue", rung, kept,
                           alive.size()));
  }

  StudyEnd finish() {
    StudyEnd end{.results = results()};
    folder_.write_results(plan_, end.results);
    if (!failed_.empty()) {
      const ExitCode code = exit_code_of(failed_.begin()->second);
      end.code = find_exit_code(failed_.begin()->second) ? code : ExitCode::rank_failed;
    }
    if (stop_requests() > 0) end.code = ExitCode::stopped;
    if (stop_requests() > 1) end.code = ExitCode::interrupted_twice;
    return end;
  }

  const StudyPlan& plan_;
  const StudyView& view_;
  StudyFolder folder_;
  std::vector<std::optional<RunRecord>> records_;  // by run
  std::vector<int> rungs_;                         // by run: where it was stopped, or 0
  std::map<std::size_t, int> failed_;              // exit codes, by run
  std::size_t left_ = 0;                           // tasks that have not ended
  std::optional<RunPool> pool_;                    // once there is something to run
};

}  // namespace

StudyEnd run_study(const StudyPlan& plan, const StudyView& view) {
  return StudyRunner(plan, view).run();
}

std::vector<int> halving_rungs(int epochs, int factor) {
  std::vector<int> rungs;
  for (int rung = epochs / factor; rung >= 1; rung /= factor)
    rungs.insert(rungs.begin(), rung);
  return rungs;
}

}  // namespace convoy
