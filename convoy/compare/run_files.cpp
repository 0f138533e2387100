// SPDX-License-Identifier: Apache-2.0

#include "convoy/compare/run_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "convoy/base/error.h"
#include "convoy/base/json.h"
#include "convoy/system/file.h"

namespace convoy {
namespace {

using json = nlohmann::ordered_json;

constexpr std::size_t kMostSummaryBytes = std::size_t{1} << 24;
constexpr std::size_t kMostMetricsBytes = std::size_t{1} << 28;

/// A number that is not finite is written as null.
double loss_of(const JsonObject& object) {
  if (object.field("loss").is_null()) return std::numeric_limits<double>::quiet_NaN();
  return object.number("loss");
}

RunScore score_of(const JsonObject& object) {
  return {loss_of(object), object.number("accuracy")};
}

std::optional<RunScore> score_in(const JsonObject& object, std::string_view name) {
  if (!object.contains(name) || object.field(name).is_null()) return {};
  return score_of(object.object(name));
}

/// Numbers of a list, such as one per rank; none if there is no such list.
std::vector<std::uint64_t> list_in(const JsonObject& object, std::string_view name,
                                   const std::string& field) {
  std::vector<std::uint64_t> numbers;
  if (!object.contains(name)) return numbers;
  const json& list = object.field(name);
  if (!list.is_array()) object.refuse(name, "a list");
  for (const json& each : list) {
    const json* number = &each;
    if (!field.empty())
      number = each.is_object() && each.contains(field) ? &each[field] : nullptr;
    if (number == nullptr || !number->is_number_unsigned()) {
      object.refuse(name, "a list of whole numbers");
    }
    numbers.push_back(number->get<std::uint64_t>());
  }
  return numbers;
}

void read_times(const JsonObject& summary, RunResult& result) {
  const JsonObject seconds = summary.object("seconds");
  result.total_seconds = seconds.number("total");
  result.training_seconds = seconds.number("training");
  if (summary.contains("virtual_seconds")) {
    result.virtual_seconds = summary.number("virtual_seconds");
  }
  result.images_per_second = summary.number("images_per_second");
  result.step_ms = summary.object("step_ms").number("mean");
}

void read_usage(const JsonObject& summary, RunResult& result) {
  for (const std::uint64_t bytes : list_in(summary, "communication", "bytes_sent")) {
    result.bytes_sent += bytes;
  }
  for (const std::uint64_t bytes : list_in(summary, "peak_rss_bytes", "")) {
    result.peak_rss_bytes = std::max(result.peak_rss_bytes, bytes);
  }
  if (summary.contains("planned_memory") && !summary.field("planned_memory").is_null()) {
    result.planned_bytes = summary.object("planned_memory").whole("bytes");
  }
}

/// Walks through the lines of metrics.jsonl.
class Metrics {
 public:
  Metrics(const std::filesystem::path& path, RunRecord& run)
      : path_(path.string()), run_(run) {}

  void read(std::string_view text) {
    for (std::size_t number = 1, end = 0; (end = text.find('\n')) != text.npos;
         ++number) {
      take(text.substr(0, end), number);
      text.remove_prefix(end + 1);
    }
    if (!last_step_.empty()) parse(last_step_, last_number_);
  }

 private:
  /// Records of steps are many, and of them only the last one counts.
  void take(std::string_view line, std::size_t number) {
    if (line.empty() || line.starts_with(R"({"kind":"histograms")")) return;
    if (!line.starts_with(R"({"kind":"step")")) return parse(line, number);
    last_step_ = line;
    last_number_ = number;
  }

  /// The first line that cannot be read is a problem; the others are left out as well.
  void parse(std::string_view line, std::size_t number) try {
    const std::string where = fmt::format("{}:{}", path_, number);
    const json parsed = parse_json(line, {.where = where});
    add(JsonObject(parsed, {.where = where}));
  } catch (const InputError& error) {
    if (!complained_) run_.problems.emplace_back(error.what());
    complained_ = true;
  }

  void add(const JsonObject& record) {
    const std::string kind = record.text("kind");
    if (!record.contains("step")) return;
    const std::uint64_t step = record.whole("step");
    run_.last_step = std::max(run_.last_step, step);
    if (kind == "epoch") add_epoch(record, step);
    if (kind != "eval") return;
    run_.evaluations.push_back({.split = record.text("split"),
                                .step = step,
                                .epoch = record.count("epoch"),
                                .score = score_of(record),
                                .seconds = seconds_});
  }

  void add_epoch(const JsonObject& record, std::uint64_t step) {
    run_.epochs.push_back({.epoch = record.count("epoch"),
                           .step = step,
                           .score = score_of(record),
                           .seconds = record.number("seconds"),
                           .images_per_second = record.number("images_per_second")});
    seconds_ += run_.epochs.back().seconds;
  }

  std::string path_;
  RunRecord& run_;
  double seconds_ = 0;  // of the epochs so far
  std::string_view last_step_;
  std::size_t last_number_ = 0;
  bool complained_ = false;
};

}  // namespace

RunResult read_summary(const std::filesystem::path& path) {
  const JsonSource source{.where = path.string(), .expected = "a run's summary"};
  const json parsed = parse_json(read_text(path, kMostSummaryBytes), source);
  const JsonObject summary(parsed, source);
  RunResult result{.weights_sha256 = summary.text("weights_sha256"),
                   .strategy = summary.text("strategy"),
                   .ranks = summary.count("ranks"),
                   .threads = summary.count("threads"),
                   .epochs = summary.count("epochs"),
                   .steps = summary.whole("steps"),
                   .train = score_in(summary, "train"),
                   .test = score_in(summary, "test")};
  read_times(summary, result);
  read_usage(summary, result);
  const JsonObject exit = summary.object("exit");
  result.exit_code = exit.count("code");
  result.exit_reason = exit.text("reason");
  return result;
}

std::string read_metrics(const std::filesystem::path& path, RunRecord& run) {
  std::string text = read_text(path, kMostMetricsBytes);
  Metrics(path, run).read(text);
  return text;
}

}  // namespace convoy
