// SPDX-License-Identifier: Apache-2.0

#include "convoy/study/study_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "convoy/base/error.h"
#include "convoy/base/sha256.h"
#include "convoy/setup/workload.h"

namespace convoy {
namespace {

using json = nlohmann::ordered_json;
using Names = std::vector<std::string>;

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

bool has_fixed(const StudyQuestion& question, std::string_view name) {
  return std::ranges::find(question.fixed, name, &SettingAssignment::name) !=
         question.fixed.end();
}

bool names_study(const SettingAssignment& assignment) {
  return assignment.name == "run.name" || assignment.name == "run.dir";
}

/// The command decides about folds.
void refuse_folds(const StudyQuestion& question) {
  for (const char* name : {"data.folds", "data.fold", "data.fold_by"}) {
    const bool varies =
        std::ranges::find(question.dimensions, name, &StudyDimension::name) !=
        question.dimensions.end();
    if (!varies && !has_fixed(question, name)) continue;
    throw InputError(InputKind::settings, {.where = name,
                                           .found = "a setting of convoy kfold's runs",
                                           .expected = "--folds and --fold-by",
                                           .hint = ""});
  }
}

/// Folds as a dimension, and nothing written that a fold does not need.
void add_folds(StudyQuestion& question) {
  refuse_folds(question);
  const auto add = [&](const std::string& name, const std::string& value) {
    if (!has_fixed(question, name))
      question.fixed.push_back({name, value, "convoy kfold"});
  };
  add("data.folds", std::to_string(question.options.folds));
  add("data.fold_by", choice_name(question.options.fold_by));
  add("run.tensorboard", "false");
  add("run.resources", "false");
  const bool says_what_to_save = std::ranges::any_of(
      question.fixed,
      [](const SettingAssignment& one) { return one.name.starts_with("checkpoint."); });
  const bool resumes = question.options.halving > 0;
  if (!says_what_to_save && !resumes) add("checkpoint.enabled", "false");
  StudyDimension fold{.name = "data.fold", .values = {}};
  for (int i = 0; i < question.options.folds; ++i)
    fold.values.push_back(std::to_string(i));
  question.dimensions.push_back(fold);
}

/// Whether evaluations may end a run before its last epoch.
bool ends_by_evaluations(const TrainSettings& train) {
  return train.patience > 0 || train.target_accuracy > 0;
}

/// Whether a run of some epochs is the beginning of a longer one.
bool begins_alike(const Settings& settings) {
  const TrainSettings& train = settings.train;
  return settings.schedule.name == ScheduleChoice::constant && train.max_steps == 0 &&
         train.swa_start == 0 && !ends_by_evaluations(train);
}

/// The settings of model and data that decide whether a run can start.
Settings workload_settings(const Settings& settings) {
  Settings part;
  part.model = settings.model;
  part.data = settings.data;
  part.data.fold = 0;
  part.train.batch_size = settings.train.batch_size;
  part.train.freeze = settings.train.freeze;
  return part;
}

class Planner {
 public:
  Planner(StudyQuestion question, SettingsContext context)
      : question_(std::move(question)), context_(std::move(context)) {
    for (const SettingAssignment& one : question_.fixed) {
      if (!names_study(one)) plan_.given.push_back(one.name + "=" + one.value);
    }
    if (question_.kind == StudyKind::kfold) add_folds(question_);
    plan_.kind = question_.kind;
    plan_.options = question_.options;
    plan_.files = question_.files;
    for (const SettingAssignment& one : question_.fixed) {
      if (!names_study(one)) plan_.fixed.push_back(one.name + "=" + one.value);
    }
    for (const StudyDimension& one : question_.dimensions) {
      plan_.dimensions.push_back(one.name);
    }
  }

  StudyPlan plan() {
    const std::vector<Combination> all =
        combinations(question_.dimensions, {.trials = question_.options.trials,
                                            .seed = question_.options.seed,
                                            .most = question_.options.limit});
    for (const Combination& one : all) plan_.rows.push_back({.values = one});
    for (const std::vector<std::size_t>& rows : rows_by_run()) plan_runs(rows);
    check_halving();
    name_study();
    return std::move(plan_);
  }

 private:
  std::size_t epochs_dimension() const {
    const auto found = std::ranges::find(plan_.dimensions, "train.epochs");
    if (found == plan_.dimensions.end()) return kNone;
    return static_cast<std::size_t>(found - plan_.dimensions.begin());
  }

  /// Rows that may share a run, in the order of their first ones.
  std::vector<std::vector<std::size_t>> rows_by_run() const {
    const bool shares = plan_.kind == StudyKind::kfold && epochs_dimension() != kNone &&
                        question_.options.halving == 0 &&
                        !has_fixed(question_, "eval.every_epochs");
    std::map<Combination, std::size_t> seen;
    std::vector<std::vector<std::size_t>> groups;
    for (std::size_t row = 0; row < plan_.rows.size(); ++row) {
      Combination key = plan_.rows[row].values;
      if (shares) key[epochs_dimension()].clear();
      if (!shares) key.push_back(std::to_string(row));
      const auto [group, fresh] = seen.emplace(key, groups.size());
      if (fresh) groups.emplace_back();
      groups[group->second].push_back(row);
    }
    return groups;
  }

  void plan_runs(const std::vector<std::size_t>& rows) {
    std::vector<Settings> settings;
    for (const std::size_t row : rows) settings.push_back(resolve(assignments_of(row)));
    const auto longest = std::ranges::max_element(
        settings, {}, [](const Settings& one) { return one.train.epochs; });
    const auto place = static_cast<std::size_t>(longest - settings.begin());
    if (rows.size() == 1 || begins_alike(*longest)) return add_run(rows, settings, place);
    for (std::size_t i = 0; i < rows.size(); ++i) add_run({rows[i]}, {settings[i]}, 0);
  }

  std::vector<std::string> assignments_of(std::size_t row) const {
    std::vector<std::string> texts;
    for (std::size_t d = 0; d < plan_.dimensions.size(); ++d) {
      texts.push_back(plan_.dimensions[d] + "=" + plan_.rows[row].values[d]);
    }
    return texts;
  }

  /// Adds the run of rows[place], which gives the results of all `rows`, whose settings
  /// are given.
  void add_run(const std::vector<std::size_t>& rows,
               const std::vector<Settings>& settings, std::size_t place) {
    StudyRun run{.assignments = assignments_of(rows[place])};
    Settings own = settings[place];
    int every = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const int epochs = settings[i].train.epochs;
      plan_.rows[rows[i]].run = plan_.runs.size();
      plan_.rows[rows[i]].epoch = rows.size() > 1 ? epochs : 0;
      every = std::gcd(every, epochs);
    }
    if (evaluates_seldom(own)) {
      own.eval.every_epochs = every;
      run.assignments.push_back(fmt::format("eval.every_epochs={}", every));
    }
    run.epochs = own.train.epochs;
    check_run(own);
    if (plan_.runs.empty()) plan_.first = own;
    own.run = {};
    const std::string text = to_yaml(own);
    digest_.add(std::as_bytes(std::span(text)));
    plan_.runs.push_back(std::move(run));
  }

  /// Only evaluations that give results, unless they decide about the run.
  bool evaluates_seldom(const Settings& settings) const {
    return plan_.kind == StudyKind::kfold && question_.options.halving == 0 &&
           !ends_by_evaluations(settings.train) &&
           settings.schedule.name != ScheduleChoice::plateau &&
           !has_fixed(question_, "eval.every_epochs");
  }

  Settings resolve(const std::vector<std::string>& assignments) const {
    std::vector<std::string> all;
    for (const SettingAssignment& one : question_.fixed) {
      all.push_back(one.name + "=" + one.value);
    }
    all.insert(all.end(), assignments.begin(), assignments.end());
    return resolve_settings(all, plan_.files, context_);
  }

  void check_run(const Settings& settings) {
    if (settings.cluster.nnodes > 1) {
      throw InputError(InputKind::settings,
                       {.where = "cluster.nnodes",
                        .found = std::to_string(settings.cluster.nnodes),
                        .expected = "1: a study runs on one machine",
                        .hint = "--simulate makes virtual machines"});
    }
    check_ranks(settings, std::max(1, settings.cluster.nproc_per_node));
    const Settings part = workload_settings(settings);
    if (checked_.insert(to_yaml(part)).second) load_training_workload(part);
    const DataSettings& data = settings.data;
    const bool validates = data.val_fraction > 0 || data.folds > 0 ||
                           (data.split.size() == 3 && data.split[1] > 0);
    if (plan_.runs.empty() || !validates) plan_.split = validates ? "val" : "test";
    plan_.metric = question_.options.score.value_or(
        question_.kind == StudyKind::kfold ? BestMetric::loss
                                           : settings.checkpoint.best_metric);
  }

  /// Rungs are epochs that all runs have and evaluate.
  void check_halving() const {
    if (question_.options.halving == 0) return;
    const auto refuse = [](const std::string& where, const std::string& found,
                           const std::string& expected) {
      throw InputError(
          InputKind::settings,
          {.where = where, .found = found, .expected = expected, .hint = ""});
    };
    if (question_.options.halving == 1) {
      refuse("sweep.halving", "1", "0 for none, or from 2");
    }
    if (question_.options.simulate) {
      refuse("sweep.halving", "with --simulate",
             "real runs: one on a virtual cluster cannot be stopped and resumed");
    }
    if (epochs_dimension() != kNone) {
      refuse("train.epochs", "several values with --halving", "runs of equal length");
    }
    if (plan_.first.eval.every_epochs != 1) {
      refuse("eval.every_epochs", std::to_string(plan_.first.eval.every_epochs),
             "1 with --halving");
    }
  }

  void name_study() {
    json& identity = plan_.identity;
    identity = {{"command", name_of(plan_.kind)}};
    for (const SettingAssignment& one : question_.fixed) {
      if (!names_study(one)) identity["settings"][one.name] = one.value;
    }
    for (const StudyDimension& one : question_.dimensions) {
      identity["dimensions"][one.name] = one.values;
      if (!one.interval) continue;
      identity["dimensions"][one.name] = {one.interval->low, one.interval->high,
                                          one.interval->log ? "log" : "linear"};
    }
    const StudyOptions& options = plan_.options;
    identity["options"] = {{"trials", options.trials},
                           {"seed", options.seed},
                           {"halving", options.halving},
                           {"simulate", options.simulate},
                           {"score", choice_name(plan_.metric)}};
    for (const auto& file : plan_.files) identity["files"].push_back(file.string());
    std::string name = plan_.first.run.name;
    if (name.empty()) name = question_.file;
    if (name.empty()) {
      const std::string text = identity.dump();
      const std::string digest = sha256_hex(std::as_bytes(std::span(text)));
      name = name_of(plan_.kind) + "_" + digest.substr(0, 8);
    }
    plan_.folder = std::filesystem::path(plan_.first.run.dir) / name;
    identity["runs"] = plan_.runs.size();
    identity["settings_sha256"] = digest_.hex();
  }

  StudyQuestion question_;
  SettingsContext context_;
  StudyPlan plan_;
  std::set<std::string> checked_;  // workloads
  Sha256 digest_;                  // of all settings of all runs
};

}  // namespace

StudyPlan plan_study(const StudyRequest& request) {
  SettingsContext context{.names = known_names(), .folders = config_folders()};
  StudyQuestion question = read_question(request, context);
  return Planner(std::move(question), std::move(context)).plan();
}

std::filesystem::path run_folder(const StudyPlan& plan, std::size_t run) {
  return plan.folder / std::to_string(run);
}

}  // namespace convoy
