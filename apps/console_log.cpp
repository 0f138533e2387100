// SPDX-License-Identifier: Apache-2.0

#include "apps/console_log.h"

#include <fmt/format.h>

#include <cstdio>

#include "convoy/base/printable.h"
#include "convoy/evaluate/evaluation_report.h"
#include "convoy/job/rank_variables.h"
#include "convoy/pages/report.h"
#include "convoy/train/outcome.h"

namespace convoy {
namespace {

/// A failed write does not end the run; main() checks the stream at the end.
void print(const std::string& text) {
  const std::string shown = printable(text);
  std::fwrite(shown.data(), 1, shown.size(), stdout);
  std::fflush(stdout);
}

ProgressOptions first_rank_progress(const ConsoleOptions& options) {
  switch (options.mode) {
    case ConsoleMode::quiet:
      return {.style = ProgressStyle::quiet};
    case ConsoleMode::json:
      return {.style = ProgressStyle::json};
    case ConsoleMode::normal:
      break;
  }
  if (options.style == ConsoleStyle::imagenet) return {.style = ProgressStyle::log};
  if (options.terminal_width == 0) return {.style = ProgressStyle::plain};
  return {.style = ProgressStyle::bar,
          .width = options.terminal_width,
          .colour = colours_are_wanted()};
}

/// Where the run's page is; "" if it has none.
std::string report_line(const std::filesystem::path& folder) {
  const std::filesystem::path report = folder / kReportFile;
  std::error_code ignored;
  if (!std::filesystem::exists(report, ignored)) return "";
  return fmt::format("report {}\n", report.string());
}

}  // namespace

void ConsoleLog::launched(const std::string& placement) {
  if (is_normal()) print(fmt::format("launch    {}\n", placement));
}

void ConsoleLog::planned(const std::string& plan, const std::filesystem::path& folder) {
  if (is_normal()) print(fmt::format("{}run       {}\n\n", plan, folder.string()));
}

Progress* ConsoleLog::progress(bool is_first_rank) {
  if (is_first_rank) {
    progress_.emplace(stdout, first_rank_progress(options_));
  } else if (options_.has_log) {
    progress_.emplace(stdout, ProgressOptions{.style = ProgressStyle::log,
                                              .line_prefix = kLogOnlyPrefix});
  }
  return progress_ ? &*progress_ : nullptr;
}

void ConsoleLog::warn(const std::string& text) {
  fmt::print(stderr, "convoy: {}\n", printable(text));
}

void ConsoleLog::ended(const Outcome& outcome, const std::filesystem::path& folder) {
  const std::string where = "run folder " + folder.string();
  if (outcome.test) {
    const std::string result = result_line(*outcome.test);
    if (is_normal()) {
      print(fmt::format("\n{}\n{}\n", evaluation_text(*outcome.test), result));
    }
    if (options_.mode == ConsoleMode::quiet)
      print(fmt::format("{}, {}\n", result, where));
  }
  if (is_normal()) print(where + "\n" + report_line(folder));
  if (outcome.code == ExitCode::done) return;
  warn(outcome.reason);
  if (outcome.code == ExitCode::diverged) {
    fmt::print(stderr, "  hint: a smaller optimizer.lr often helps\n");
  }
}

}  // namespace convoy
