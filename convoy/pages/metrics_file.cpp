// SPDX-License-Identifier: Apache-2.0

#include "convoy/pages/metrics_file.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "convoy/base/error.h"
#include "convoy/base/json.h"

namespace convoy {
namespace {

using json = nlohmann::ordered_json;

constexpr std::size_t kLongestLine = std::size_t{1} << 20;
constexpr std::size_t kLongestName = 64;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

using Name = std::pair<std::string_view, std::string_view>;  // in a record, of the curve

constexpr Name kStepNames[] = {{"loss", "train/loss"},
                               {"accuracy", "train/accuracy"},
                               {"lr", "train/lr"},
                               {"grad_norm", "train/grad_norm"},
                               {"weight_norm", "train/weight_norm"},
                               {"images_per_second", "perf/images_per_second"},
                               {"step_ms", "perf/step_ms"}};
constexpr Name kEpochNames[] = {{"loss", "train/epoch_loss"},
                                {"accuracy", "train/epoch_accuracy"},
                                {"weight_norm", "train/epoch_weight_norm"},
                                {"seconds", "perf/epoch_seconds"}};
constexpr Name kRankNames[] = {{"own_ms", "perf/own_ms"},
                               {"data_ms", "perf/waiting_for_data_ms"},
                               {"exposed_ms", "comm/exposed_ms"},
                               {"bytes_sent", "comm/bytes_sent"}};

double number_of(const json& value) {
  return value.is_number() ? value.get<double>() : kNone;
}

double number_field(const json& record, std::string_view name) {
  const auto found = record.find(name);
  return found == record.end() ? kNone : number_of(*found);
}

std::string text_in(const json& record, std::string_view name) {
  const auto found = record.find(name);
  if (found == record.end() || !found->is_string()) return "";
  return found->get_ref<const std::string&>();
}

/// Takes the records of one file, in their order.
class MetricsReader {
 public:
  explicit MetricsReader(RunCurves& curves) : curves_(curves) {}

  void take(const json& record) {
    if (!record.is_object()) return;
    const std::string kind = text_in(record, "kind");
    const double step = number_field(record, "step");
    if (!(step >= 0)) return;
    if (kind == "epoch") end_epoch(record, step);
    if (!curves_.contains(step)) return;
    if (kind == "step") add_step(record, step);
    if (kind == "epoch") add_named(record, kEpochNames, step);
    if (kind == "eval") add_evaluation(record, step);
  }

  /// The steps after the last complete epoch have a place, too.
  void finish() {
    const StepPlaces& places = curves_.places();
    const double steps = last_step_ - places.step.back();
    if (!(steps > 0)) return;
    const double length = places.step.size() > 1 ? places.step[1] : last_step_;
    curves_.add_place(last_step_, places.epoch.back() + std::min(1.0, steps / length),
                      places.seconds.back() + steps * last_step_ms_ / 1e3);
  }

 private:
  template <class Names>
  void add_named(const json& record, const Names& names, double step,
                 std::optional<std::size_t> rank = {}) {
    for (const auto& [field, name] : names) {
      const auto found = record.find(field);
      if (found == record.end()) continue;
      curves_.add(std::string(name), rank, step, number_of(*found));
    }
  }

  void add_step(const json& record, double step) {
    last_step_ = std::max(last_step_, step);
    if (const double ms = number_field(record, "step_ms"); ms > 0) last_step_ms_ = ms;
    add_named(record, kStepNames, step);
    for (const auto& [group, numbers] : record.items()) {
      if (numbers.is_object() && group.size() <= kLongestName) {
        add_group(group, numbers, step);
      }
    }
    if (const double seconds = number_field(record, "virtual_seconds"); seconds >= 0) {
      curves_.add("clock/virtual_seconds", {}, step, seconds);
    }
    const auto ranks = record.find("ranks");
    if (ranks != record.end() && ranks->is_array()) add_ranks(*ranks, step);
  }

  void add_group(const std::string& group, const json& numbers, double step) {
    for (const auto& [name, value] : numbers.items()) {
      if (name.size() > kLongestName || !value.is_number()) continue;
      curves_.add(group + "/" + name, {}, step, value.get<double>());
    }
  }

  /// A rank that did nothing since the last record has zeros: an asynchronous worker that
  /// made no push.
  void add_ranks(const json& ranks, double step) {
    const std::size_t count = std::min(ranks.size(), kMostRanks);
    for (std::size_t rank = 0; rank < count; ++rank) {
      if (!ranks[rank].is_object() || !(number_field(ranks[rank], "own_ms") > 0))
        continue;
      add_named(ranks[rank], kRankNames, step, rank);
    }
  }

  void end_epoch(const json& record, double step) {
    const double seconds = number_field(record, "seconds");
    const double epoch = number_field(record, "epoch");
    if (!(seconds >= 0) || !(epoch >= 0)) return;
    curves_.add_place(step, epoch, curves_.places().seconds.back() + seconds);
    last_step_ = std::max(last_step_, step);
  }

  void add_evaluation(const json& record, double step) {
    const std::string split = text_in(record, "split");
    if (split.empty() || split.size() > kLongestName) return;
    curves_.add(split + "/loss", {}, step, number_field(record, "loss"));
    curves_.add(split + "/accuracy", {}, step, number_field(record, "accuracy"));
  }

  RunCurves& curves_;
  double last_step_ = 0, last_step_ms_ = 0;
};

/// Adds the record of a line.
void take_line(std::string_view line, MetricsReader& reader) try {
  if (line.empty() || line.size() > kLongestLine) return;
  reader.take(parse_json(line, {.where = "metrics.jsonl"}));
} catch (const InputError&) {
  // read_run_record() says which line is no record.
}

/// The number of a field, without reading the line as JSON. `key` is the field's name
/// with its second quote and colon; the first quote is looked for last, because a line is
/// full of quotes.
double number_of_key(std::string_view line, std::string_view key) {
  std::size_t at = line.find(key);
  while (at != line.npos && (at == 0 || line[at - 1] != '"')) at = line.find(key, at + 1);
  double value = kNone;
  if (at == line.npos) return value;
  std::from_chars(line.data() + at + key.size(), line.data() + line.size(), value);
  return value;
}

/// The records of steps, of which there may be millions: only those that are shown are
/// read as JSON.
class StepLines {
 public:
  void add(std::string_view line) {
    lines_.push_back(line);
    losses_.push_back(number_of_key(line, R"(loss":)"));
    times_.push_back(number_of_key(line, R"(step_ms":)"));
  }

  /// About that many: of equal parts those with the least and the largest loss and time.
  std::vector<std::string_view> chosen(std::size_t count) const {
    std::vector<std::size_t> indices;
    std::ranges::set_union(thinned(losses_, count / 2), thinned(times_, count / 2),
                           std::back_inserter(indices));
    if (lines_.size() <= count) return lines_;
    std::vector<std::string_view> lines;
    for (const std::size_t i : indices) lines.push_back(lines_[i]);
    return lines;
  }

 private:
  std::vector<std::string_view> lines_;
  std::vector<double> losses_, times_;
};

void take_lines(std::string_view text, std::size_t most_steps, RunCurves& curves,
                MetricsReader& reader) {
  StepLines steps;
  for (std::size_t end = 0; (end = text.find('\n')) != text.npos;) {
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (line.starts_with(R"({"kind":"histograms")")) {
      curves.add_histograms(line);
    } else if (!line.starts_with(R"({"kind":"step")")) {
      take_line(line, reader);
    } else if (curves.contains(number_of_key(line, R"(step":)"))) {
      steps.add(line);
    }
  }
  for (const std::string_view line : steps.chosen(most_steps)) take_line(line, reader);
  reader.finish();
}

}  // namespace

void read_metrics_curves(std::string_view text, std::size_t most_steps,
                         RunCurves& curves) {
  MetricsReader reader(curves);
  take_lines(text, most_steps, curves, reader);
}

}  // namespace convoy
