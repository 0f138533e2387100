// SPDX-License-Identifier: Apache-2.0

#include "convoy/study/study_question.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/settings/settings_file.h"
#include "convoy/settings/settings_schema.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using Assignments = std::vector<SettingAssignment>;

/// They are about the study as a whole, or about several machines.
constexpr std::array<std::string_view, 11> kNotSwept = {"run.dir",
                                                        "run.name",
                                                        "train.resume",
                                                        "train.resume_force",
                                                        "train.stop_epoch",
                                                        "data.root",
                                                        "cluster.nnodes",
                                                        "cluster.node_rank",
                                                        "cluster.master_addr",
                                                        "cluster.master_port",
                                                        "checkpoint.upload"};

/// The file that sweep=VALUE names: one of configs/sweep, or a path.
fs::path sweep_file(const SettingAssignment& choice, const SettingsContext& context) {
  const std::string& value = choice.value;
  const bool is_path = value.find('/') != std::string::npos || value.ends_with(".yaml");
  if (is_path) return value;
  if (auto found = find_option_file(kSweep, value, context.folders)) return *found;
  const std::vector<std::string> names = option_names(std::string(kSweep), context);
  const std::string nearest = nearest_name(value, names);
  throw InputError(InputKind::settings,
                   {.where = choice.where,
                    .found = value,
                    .expected = "a path ending in .yaml, or one of " + join(names),
                    .hint = nearest.empty() ? "" : "nearest name: " + nearest});
}

/// Replaces earlier assignments of the same name in place.
void merge_assignments(const Assignments& later, Assignments& all) {
  for (const SettingAssignment& one : later) {
    const auto before = std::ranges::find(all, one.name, &SettingAssignment::name);
    if (before == all.end()) {
      all.push_back(one);
    } else {
      *before = one;
    }
  }
}

/// What the file and then the command line say.
Assignments given_assignments(const StudyRequest& request, const SettingsContext& context,
                              std::string& file_name) {
  Assignments command_line, all;
  for (const std::string& text : request.assignments) {
    const SettingAssignment one = parse_assignment(text);
    if (one.name != kSweep) {
      command_line.push_back(one);
      continue;
    }
    const fs::path file = sweep_file(one, context);
    merge_assignments(read_settings_file(file, study_option_names()), all);
    file_name = file.stem();
  }
  merge_assignments(command_line, all);
  return all;
}

void refuse_unsweepable(const SettingAssignment& assignment) {
  if (std::ranges::find(kNotSwept, assignment.name) == kNotSwept.end()) return;
  throw InputError(InputKind::settings,
                   {.where = assignment.where,
                    .found = assignment.value + ", several values",
                    .expected = "one value: this setting cannot vary within a study",
                    .hint = "a text with commas takes quotes"});
}

class QuestionReader {
 public:
  QuestionReader(const SettingsContext& context, StudyQuestion& question)
      : context_(context), question_(question) {
    for (const SettingInfo& info : settings_schema()) kinds_[info.name] = info.kind;
  }

  void take(const SettingAssignment& assignment) {
    if (assignment.name.starts_with("sweep.")) {
      return set_study_option(assignment, question_.options);
    }
    if (assignment.name == "train.resume") return refuse_resume(assignment);
    const SweepValues values =
        parse_sweep_values(assignment.value, setting_of(assignment));
    if (!values.swept) {
      question_.fixed.push_back(
          {assignment.name, values.values.front(), assignment.where});
      return;
    }
    refuse_unsweepable(assignment);
    question_.dimensions.push_back({assignment.name, values.values, values.interval});
  }

 private:
  SweptSetting setting_of(const SettingAssignment& assignment) const {
    const auto kind = kinds_.find(assignment.name);
    return {.where = assignment.where,
            .whole = kind != kinds_.end() && kind->second == SettingKind::whole,
            .names = option_names(assignment.name, context_),
            .most_values = question_.options.limit};
  }

  /// A study is always resumed, so that "auto" says nothing new.
  static void refuse_resume(const SettingAssignment& assignment) {
    if (assignment.value == "auto") return;
    throw InputError(InputKind::settings,
                     {.where = assignment.where,
                      .found = assignment.value,
                      .expected = "nothing: the same command resumes its study",
                      .hint = "model.init starts all runs from the same weights"});
  }

  const SettingsContext& context_;
  StudyQuestion& question_;
  std::map<std::string, SettingKind> kinds_;
};

}  // namespace

std::string name_of(StudyKind kind) {
  return kind == StudyKind::sweep ? "sweep" : "kfold";
}

StudyQuestion read_question(const StudyRequest& request, const SettingsContext& context) {
  StudyQuestion question{.kind = request.kind, .files = request.files};
  Assignments all = given_assignments(request, context, question.file);
  // Options first, since they limit the number of values.
  const auto is_option = [](const SettingAssignment& one) {
    return one.name.starts_with("sweep.");
  };
  std::stable_partition(all.begin(), all.end(), is_option);
  QuestionReader reader(context, question);
  for (const SettingAssignment& one : all) reader.take(one);
  if (question.kind == StudyKind::sweep && question.dimensions.empty()) {
    throw InputError(InputKind::settings,
                     {.where = "the grid",
                      .found = "no setting with several values",
                      .expected = "at least one, such as optimizer.lr=0.01,0.1",
                      .hint = "convoy train makes a single run"});
  }
  return question;
}

}  // namespace convoy
