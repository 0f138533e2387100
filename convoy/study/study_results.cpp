// SPDX-License-Identifier: Apache-2.0

#include "convoy/study/study_results.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "convoy/base/exit_code.h"

namespace convoy {
namespace {

/// Takes numbers one by one.
class Sample {
 public:
  void add(double value) { values_.push_back(value); }

  Statistic statistic() const {
    Statistic result{.count = values_.size()};
    if (values_.empty()) return result;
    const auto count = static_cast<double>(values_.size());
    for (const double value : values_) result.mean += value / count;
    double squares = 0;
    for (const double value : values_) squares += std::pow(value - result.mean, 2);
    if (values_.size() > 1) result.deviation = std::sqrt(squares / (count - 1));
    return result;
  }

 private:
  std::vector<double> values_;
};

bool is_diverged(const RunRecord& record) {
  return record.result &&
         record.result->exit_code == static_cast<int>(ExitCode::diverged);
}

RowState state_of(const RunRecord& record) {
  if (record.state == RunState::finished) return RowState::done;
  if (is_diverged(record)) return RowState::diverged;
  const bool failed =
      record.state == RunState::failed || record.state == RunState::broken;
  return failed ? RowState::failed : RowState::unfinished;
}

/// Sets the scores of the evaluations after that epoch; returns whether there are any.
bool take_evaluations(const RunRecord& record, int epoch, RowResult& result) {
  bool found = false;
  for (const RunEvaluation& one : record.evaluations) {
    if (one.epoch != epoch) continue;
    (one.split == "val" ? result.val : result.test) = one.score;
    result.step = one.step;
    result.epoch = epoch;
    found = true;
  }
  return found;
}

void take_end(const RunRecord& record, RowResult& result) {
  result.val = record.score("val");
  if (!record.result) return;
  result.epoch = record.result->epochs;
  result.step = record.result->steps;
  result.train = record.result->train;
  result.test = record.result->test;
  result.weights_sha256 = record.result->weights_sha256;
}

/// The rows of a group have these values in common.
Combination key_of(const StudyPlan& plan, const StudyRow& row) {
  Combination key;
  for (std::size_t d = 0; d < plan.dimensions.size(); ++d) {
    if (!is_repeated(plan.dimensions[d])) key.push_back(row.values[d]);
  }
  return key;
}

void summarize(const StudyPlan& plan, const std::vector<RowResult>& results,
               StudyGroup& group) {
  Sample loss, accuracy, seconds;
  for (const std::size_t row : group.rows) {
    const RowResult& result = results[row];
    group.state = std::max(group.state, result.state);
    if (result.seconds) seconds.add(*result.seconds);
    const std::optional<RunScore>& score = result.score(plan.split);
    if (!score || !std::isfinite(score->loss)) continue;
    group.epoch = group.epoch == 0 ? result.epoch : std::min(group.epoch, result.epoch);
    loss.add(score->loss);
    accuracy.add(score->accuracy);
  }
  group.loss = loss.statistic();
  group.accuracy = accuracy.statistic();
  group.seconds = seconds.statistic();
}

/// Smaller is better.
auto place_of(const StudyPlan& plan, const StudyGroup& group) {
  const bool by_loss = plan.metric == BestMetric::loss;
  const Statistic& score = by_loss ? group.loss : group.accuracy;
  const int kind = group.state == RowState::done     ? 0
                   : group.state == RowState::halved ? 1
                   : score.count > 0                 ? 2
                                                     : 3;
  return std::tuple(kind, kind == 1 ? -group.epoch : 0,
                    by_loss ? score.mean : -score.mean);
}

}  // namespace

std::string name_of(RowState state) {
  switch (state) {
    case RowState::done:
      return "done";
    case RowState::diverged:
      return "diverged";
    case RowState::halved:
      return "halved";
    case RowState::failed:
      return "failed";
    case RowState::unfinished:
      break;
  }
  return "unfinished";
}

std::vector<std::optional<RunRecord>> read_records(const StudyPlan& plan) {
  std::vector<std::optional<RunRecord>> records(plan.runs.size());
  for (std::size_t run = 0; run < plan.runs.size(); ++run) {
    const std::filesystem::path folder = run_folder(plan, run);
    std::error_code ignored;
    if (std::filesystem::is_directory(folder, ignored)) {
      records[run] = read_run_record(folder);
    }
  }
  return records;
}

bool is_complete(const RunRecord& record) {
  return record.state == RunState::finished || is_diverged(record);
}

RowResult result_of(const StudyRow& row, const std::optional<RunRecord>& record,
                    int rung) {
  RowResult result;
  if (!record) return result;
  if (record->result) {
    result.virtual_seconds = record->result->virtual_seconds;
    result.seconds = result.virtual_seconds.value_or(record->result->total_seconds);
  }
  result.state = state_of(*record);
  if (rung > 0) {
    const bool scored = take_evaluations(*record, rung, result);
    if (scored) result.state = RowState::halved;
    return result;
  }
  if (row.epoch == 0) {
    take_end(*record, result);
    return result;
  }
  // The run may have diverged later than this row's epoch.
  const bool scored = take_evaluations(*record, row.epoch, result);
  if (scored && is_complete(*record)) result.state = RowState::done;
  return result;
}

std::vector<StudyGroup> ranked_groups(const StudyPlan& plan,
                                      const std::vector<RowResult>& results) {
  std::map<Combination, std::size_t> seen;
  std::vector<StudyGroup> groups;
  for (std::size_t row = 0; row < plan.rows.size(); ++row) {
    const auto [group, fresh] = seen.emplace(key_of(plan, plan.rows[row]), groups.size());
    if (fresh) groups.emplace_back();
    groups[group->second].rows.push_back(row);
  }
  for (StudyGroup& group : groups) summarize(plan, results, group);
  std::ranges::stable_sort(
      groups, {}, [&](const StudyGroup& group) { return place_of(plan, group); });
  return groups;
}

}  // namespace convoy
