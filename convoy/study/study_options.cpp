// SPDX-License-Identifier: Apache-2.0

#include "convoy/study/study_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "convoy/base/error.h"
#include "convoy/base/text.h"

namespace convoy {
namespace {

struct OptionRow {
  std::string name;
  std::string expected;
  /// Whether the text is a value of the option, which is then set.
  std::function<bool(const std::string& text, StudyOptions& options)> set;
};

/// A row of whole numbers from `low` to `high`.
template <class Number>
OptionRow whole_row(const std::string& name, Number StudyOptions::*member, double low,
                    double high) {
  return {name, fmt::format("a whole number from {} to {}", low, high),
          [=](const std::string& text, StudyOptions& options) {
            const std::optional<double> value = number_in(text);
            if (!value || *value != std::floor(*value) || *value < low || *value > high) {
              return false;
            }
            options.*member = static_cast<Number>(*value);
            return true;
          }};
}

/// A row of the names of a choice.
template <class Chosen, class Member>
OptionRow choice_row(const std::string& name, Member StudyOptions::*member) {
  return {name, "one of " + join(choice_names<Chosen>()),
          [=](const std::string& text, StudyOptions& options) {
            const std::optional<Chosen> choice = find_choice<Chosen>(text);
            if (choice) options.*member = *choice;
            return choice.has_value();
          }};
}

const std::vector<OptionRow>& option_rows() {
  static const std::vector<OptionRow> rows = {
      whole_row("sweep.trials", &StudyOptions::trials, 0, 1e9),
      whole_row("sweep.seed", &StudyOptions::seed, 0, 1e15),
      whole_row("sweep.limit", &StudyOptions::limit, 1, 1e7),
      whole_row("sweep.jobs", &StudyOptions::jobs, 0, 1024),
      whole_row("sweep.halving", &StudyOptions::halving, 0, 100),
      whole_row("sweep.folds", &StudyOptions::folds, 2, 100'000),
      choice_row<FoldChoice>("sweep.fold_by", &StudyOptions::fold_by),
      choice_row<BestMetric>("sweep.score", &StudyOptions::score),
      {"sweep.simulate", "true or false",
       [](const std::string& text, StudyOptions& options) {
         options.simulate = text == "true";
         return text == "true" || text == "false";
       }}};
  return rows;
}

}  // namespace

const std::vector<std::string>& study_option_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const OptionRow& row : option_rows()) all.push_back(row.name);
    return all;
  }();
  return names;
}

void set_study_option(const SettingAssignment& assignment, StudyOptions& options) {
  const auto& [name, value, where] = assignment;
  const auto row = std::ranges::find(option_rows(), name, &OptionRow::name);
  if (row == option_rows().end()) {
    const std::string nearest = nearest_name(name, study_option_names());
    throw InputError(InputKind::settings,
                     {.where = where,
                      .found = name,
                      .expected = "one of " + join(study_option_names()),
                      .hint = nearest.empty() ? "" : "nearest name: " + nearest});
  }
  if (row->set(value, options)) return;
  throw InputError(
      InputKind::settings,
      {.where = where, .found = value, .expected = row->expected, .hint = ""});
}

}  // namespace convoy
