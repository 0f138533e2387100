// SPDX-License-Identifier: Apache-2.0

#include "convoy/compare/logbook.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "convoy/base/printable.h"
#include "convoy/base/text.h"
#include "convoy/compare/resource_rows.h"
#include "convoy/report/text_table.h"
#include "convoy/system/append_file.h"
#include "convoy/system/file.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLogbookHead = "# Log book\n";

/// A text in which nothing is Markdown or HTML.
std::string verbatim(std::string text) {
  std::ranges::replace(text, '`', '\'');
  std::ranges::replace(text, '\n', ' ');
  return "`" + text + "`";
}

std::string score_line(const RunScore& score) {
  return fmt::format("accuracy {:.2f} %, loss {:.4f}", 100 * score.accuracy, score.loss);
}

/// The evaluation on the validation set with the highest accuracy; nothing if there was
/// none.
const RunEvaluation* best_validation(const RunRecord& run) {
  const RunEvaluation* best = nullptr;
  for (const RunEvaluation& each : run.evaluations) {
    if (each.split != "val") continue;
    if (best == nullptr || each.score.accuracy > best->score.accuracy) best = &each;
  }
  return best;
}

/// The mean over all rows of all ranks; nothing without rows.
std::optional<double> mean_cpu_percent(const fs::path& path) {
  const std::vector<RecordedResources> rows = read_resource_rows(path);
  if (rows.empty()) return {};
  double sum = 0;
  for (const RecordedResources& row : rows) sum += row.cpu_percent;
  return sum / static_cast<double>(rows.size());
}

/// The name of the checkpoint that the link `best` names, or else `last`; "" if there is
/// none.
std::string best_checkpoint(const fs::path& run) {
  for (const char* link : {"best", "last"}) {
    std::error_code error;
    const fs::path target = fs::read_symlink(run / "checkpoints" / link, error);
    if (!error) return target.filename();
  }
  return "";
}

/// The rows of an entry's table.
class EntryRows {
 public:
  void add(const std::string& what, const std::string& value) {
    table_[0].cells.push_back(what);
    table_[1].cells.push_back(value);
  }
  std::string markdown() const { return markdown_table(table_); }

 private:
  std::vector<TextColumn> table_ = {{.head = "what", .cells = {}, .left = true},
                                    {.head = "value", .cells = {}, .left = true}};
};

void add_settings_rows(EntryRows& rows, const Settings& settings) {
  rows.add("model", verbatim(settings.model.name));
  rows.add("data", verbatim(settings.data.name));
  rows.add(
      "batch size",
      with_commas(static_cast<std::uint64_t>(std::max(0, settings.train.batch_size))));
}

void add_score_rows(EntryRows& rows, const RunRecord& run) {
  if (const RunEvaluation* best = best_validation(run)) {
    rows.add("validation, best",
             fmt::format("{}, epoch {}", score_line(best->score), best->epoch));
    rows.add("validation, last", score_line(*run.score("val")));
  }
  if (const auto test = run.score("test")) rows.add("test", score_line(*test));
}

/// Measured, and planned where the run has planned it.
std::string memory_text(const RunResult& result) {
  std::string text = human_bytes(result.peak_rss_bytes) + ", of the rank with most";
  if (result.planned_bytes == 0) return text;
  return text + fmt::format("; {} planned", human_bytes(result.planned_bytes));
}

void add_result_rows(EntryRows& rows, const RunResult& result) {
  rows.add("strategy",
           fmt::format("{}, ranks: {}, threads per rank: {}", verbatim(result.strategy),
                       result.ranks, result.threads));
  rows.add("epochs, steps",
           fmt::format("{}, {}", result.epochs, with_commas(result.steps)));
  rows.add("training time", fmt::format("{} ({:.1f} s), in all {:.1f} s",
                                        human_duration(result.training_seconds),
                                        result.training_seconds, result.total_seconds));
  rows.add("images/s", fmt::format("{:.1f}", result.images_per_second));
  rows.add("memory", memory_text(result));
}

void add_checkpoint_rows(EntryRows& rows, const RunRecord& run,
                         const RunUploads& uploads) {
  const std::string best = best_checkpoint(run.folder);
  if (!best.empty()) {
    const std::string name = "/checkpoints/" + best;
    rows.add("best checkpoint", verbatim(run.name() + name));
    if (!uploads.place.empty() && uploads.failure.empty()) {
      rows.add("uploaded to", verbatim(uploads.place + name));
    }
  }
  if (!uploads.place.empty()) rows.add("records", verbatim(uploads.place));
  if (!uploads.failure.empty()) rows.add("not uploaded", verbatim(uploads.failure));
}

}  // namespace

std::string logbook_entry(const RunRecord& run, const RunUploads& uploads) {
  EntryRows rows;
  if (run.settings) add_settings_rows(rows, *run.settings);
  if (run.result) add_result_rows(rows, *run.result);
  if (const auto percent = mean_cpu_percent(run.folder / "resources.csv")) {
    rows.add("CPU utilisation",
             fmt::format("{:.0f} % of one core per rank, on average", *percent));
  }
  add_score_rows(rows, run);
  add_checkpoint_rows(rows, run, uploads);
  if (run.result) rows.add("weights_sha256", verbatim(run.result->weights_sha256));
  rows.add("repeat", verbatim("convoy train --config " + run.name() + "/config.yaml"));
  return printable(fmt::format(
      "\n## {}\n\n{:%Y-%m-%d %H:%M:%S}: {}\n\n{}", verbatim(run.name()),
      fmt::localtime(std::time(nullptr)),
      run.result ? run.result->exit_reason : std::string("no summary"), rows.markdown()));
}

void append_to_logbook(const fs::path& run, const RunUploads& uploads) {
  const RunRecord record = read_run_record(run);
  append_locked(folder_of(record.folder) / "logbook.md", kLogbookHead,
                logbook_entry(record, uploads));
}

}  // namespace convoy
