// SPDX-License-Identifier: Apache-2.0

#include "convoy/study/study_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "convoy/base/text.h"
#include "convoy/report/text_table.h"

namespace convoy {
namespace {

using json = nlohmann::ordered_json;
using Fields = std::vector<std::string>;

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string number_text(std::optional<double> value) {
  if (!value) return "";
  return std::isfinite(*value) ? fmt::format("{}", *value) : std::string("nan");
}

void add_csv_score(const std::optional<RunScore>& score, Fields& fields) {
  fields.push_back(score ? number_text(score->loss) : "");
  fields.push_back(score ? number_text(score->accuracy) : "");
}

json score_json(const std::optional<RunScore>& score) {
  if (!score) return nullptr;
  return {{"loss", score->loss}, {"accuracy", score->accuracy}};
}

json statistic_json(const Statistic& statistic) {
  if (statistic.count == 0) return nullptr;
  return {{"mean", statistic.mean},
          {"deviation", statistic.deviation},
          {"count", statistic.count}};
}

json values_json(const StudyPlan& plan, const StudyRow& row, bool with_repeated) {
  json values = json::object();
  for (std::size_t d = 0; d < plan.dimensions.size(); ++d) {
    if (!with_repeated && is_repeated(plan.dimensions[d])) continue;
    values[plan.dimensions[d]] = row.values[d];
  }
  return values;
}

json row_json(const StudyPlan& plan, const StudyRow& row, const RowResult& result) {
  return {{"run", row.run},
          {"folder", run_folder(plan, row.run).string()},
          {"values", values_json(plan, row, true)},
          {"state", name_of(result.state)},
          {"epoch", result.epoch},
          {"step", result.step},
          {"train", score_json(result.train)},
          {"val", score_json(result.val)},
          {"test", score_json(result.test)},
          {"weights_sha256", result.weights_sha256},
          {"seconds", result.seconds ? json(*result.seconds) : json(nullptr)}};
}

json group_json(const StudyPlan& plan, const StudyGroup& group) {
  const StudyRow& first = plan.rows[group.rows.front()];
  return {{"values", values_json(plan, first, false)},
          {"state", name_of(group.state)},
          {"epoch", group.epoch},
          {"loss", statistic_json(group.loss)},
          {"accuracy", statistic_json(group.accuracy)},
          {"seconds", statistic_json(group.seconds)},
          {"rows", group.rows},
          {"command", command_of(plan, first)}};
}

std::string statistic_text(const Statistic& statistic, int digits) {
  if (statistic.count == 0) return "-";
  const std::string mean = fmt::format("{:.{}f}", statistic.mean, digits);
  if (statistic.count == 1) return mean;
  return fmt::format("{} ± {:.{}f}", mean, statistic.deviation, digits);
}

/// The columns of the table.
std::vector<TextColumn> table_columns(const StudyPlan& plan,
                                      const std::vector<StudyGroup>& groups) {
  std::vector<TextColumn> columns{{.head = "place", .cells = {}}};
  for (std::size_t i = 0; i < groups.size(); ++i) {
    columns[0].cells.push_back(std::to_string(i + 1));
  }
  const auto add = [&](const std::string& head, const auto& text_of) {
    columns.push_back({.head = head, .cells = {}});
    for (const StudyGroup& group : groups) columns.back().cells.push_back(text_of(group));
  };
  for (std::size_t d = 0; d < plan.dimensions.size(); ++d) {
    if (is_repeated(plan.dimensions[d])) continue;
    add(plan.dimensions[d],
        [&](const StudyGroup& group) { return plan.rows[group.rows.front()].values[d]; });
  }
  add(plan.split + " loss", [](const auto& one) { return statistic_text(one.loss, 4); });
  add(plan.split + " accuracy",
      [](const auto& one) { return statistic_text(one.accuracy, 4); });
  add("seconds", [](const auto& one) { return statistic_text(one.seconds, 1); });
  add("rows", [](const auto& one) { return std::to_string(one.rows.size()); });
  add("state", [](const StudyGroup& one) {
    return one.state == RowState::halved
               ? fmt::format("stopped after epoch {}", one.epoch)
               : name_of(one.state);
  });
  columns.back().left = true;
  return columns;
}

/// Quotes a word if a shell would read it in another way.
std::string shell_word(const std::string& word) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_./=,:@%+-").find(c) != std::string_view::npos;
  };
  if (!word.empty() && std::ranges::all_of(word, plain)) return word;
  std::string quoted = "'";
  for (const char c : word)
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace

std::string results_text(const StudyPlan& plan, const std::vector<RowResult>& results,
                         std::size_t width) {
  const std::vector<StudyGroup> groups = ranked_groups(plan, results);
  const StudyGroup& best = groups.front();
  const bool means = std::ranges::any_of(plan.dimensions, is_repeated);
  std::string text = text_table(table_columns(plan, groups), width);
  text += fmt::format("\nby {} {}{}{}\n", plan.split, choice_name(plan.metric),
                      means ? ", mean ± standard deviation over seeds and folds" : "",
                      plan.split == "test" ? "; there is no validation set" : "");
  if (best.state != RowState::done) return text;
  return text +
         fmt::format("best      {}\n", command_of(plan, plan.rows[best.rows.front()]));
}

std::string results_csv(const StudyPlan& plan, const std::vector<RowResult>& results) {
  Fields titles{"run"};
  titles.insert(titles.end(), plan.dimensions.begin(), plan.dimensions.end());
  for (const char* title :
       {"state", "epoch", "step", "train_loss", "train_accuracy", "val_loss",
        "val_accuracy", "test_loss", "test_accuracy", "weights_sha256"}) {
    titles.emplace_back(title);
  }
  if (plan.options.simulate) titles.emplace_back("virtual_seconds");
  std::string text = join(titles, ",") + "\n";
  for (std::size_t i = 0; i < results.size(); ++i) {
    const StudyRow& row = plan.rows[i];
    const RowResult& result = results[i];
    Fields fields{std::to_string(row.run)};
    for (const std::string& value : row.values) fields.push_back(csv_field(value));
    fields.push_back(name_of(result.state));
    fields.push_back(std::to_string(result.epoch));
    fields.push_back(std::to_string(result.step));
    for (const auto& score : {result.train, result.val, result.test}) {
      add_csv_score(score, fields);
    }
    fields.push_back(result.weights_sha256);
    if (plan.options.simulate) fields.push_back(number_text(result.virtual_seconds));
    text += join(fields, ",") + "\n";
  }
  return text;
}

json results_json(const StudyPlan& plan, const std::vector<RowResult>& results) {
  json object = {
      {"command", name_of(plan.kind)}, {"name", plan.folder.filename().string()},
      {"split", plan.split},           {"score", choice_name(plan.metric)},
      {"dimensions", plan.dimensions}, {"groups", json::array()},
      {"rows", json::array()}};
  for (const StudyGroup& group : ranked_groups(plan, results)) {
    object["groups"].push_back(group_json(plan, group));
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    object["rows"].push_back(row_json(plan, plan.rows[i], results[i]));
  }
  return object;
}

std::string describe_row(const StudyPlan& plan, const StudyRow& row) {
  std::vector<std::string> texts;
  for (std::size_t d = 0; d < plan.dimensions.size(); ++d) {
    texts.push_back(plan.dimensions[d] + "=" + row.values[d]);
  }
  return join(texts, " ");
}

std::string plan_text(const StudyPlan& plan) {
  const std::size_t rows = plan.rows.size(), runs = plan.runs.size();
  std::string text = fmt::format("{:<10}{} combinations in {} run{}, in {}\n",
                                 name_of(plan.kind), with_commas(rows), with_commas(runs),
                                 runs == 1 ? "" : "s", plan.folder.string());
  text += fmt::format("score     {} {}\n", plan.split, choice_name(plan.metric));
  for (const StudyRow& row : plan.rows) {
    text += fmt::format("{:>6}    {}\n", row.run, describe_row(plan, row));
  }
  return text;
}

std::string command_of(const StudyPlan& plan, const StudyRow& row) {
  std::string text = plan.options.simulate ? "convoy simulate" : "convoy train";
  for (const auto& file : plan.files) text += " --config " + shell_word(file.string());
  for (const std::string& one : plan.given) text += " " + shell_word(one);
  for (std::size_t d = 0; d < plan.dimensions.size(); ++d) {
    if (is_repeated(plan.dimensions[d])) continue;
    text += " " + shell_word(plan.dimensions[d] + "=" + row.values[d]);
  }
  return text;
}

}  // namespace convoy
