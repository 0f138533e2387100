// SPDX-License-Identifier: Apache-2.0
//
// ConsoleLog: prints a run to stdout and stderr.

#pragma once

#include <optional>

#include "convoy/monitor/progress.h"
#include "convoy/run/run_log.h"
#include "convoy/settings/settings.h"

namespace convoy {

enum class ConsoleMode {
  normal,
  quiet,  // only the result
  json    // only the records and the summary, one object per line
};

struct ConsoleOptions {
  ConsoleMode mode = ConsoleMode::normal;
  int terminal_width = 0;  // of stdout; 0: not a terminal
  ConsoleStyle style = ConsoleStyle::bar;
  /// Whether a launcher logs what this rank prints, whichever rank it is.
  bool has_log = false;
};

class ConsoleLog final : public RunLog {
 public:
  explicit ConsoleLog(const ConsoleOptions& options) : options_(options) {}

  void launched(const std::string& placement) override;
  void planned(const std::string& plan, const std::filesystem::path& folder) override;
  Progress* progress(bool is_first_rank) override;
  void warn(const std::string& text) override;
  void ended(const Outcome& outcome, const std::filesystem::path& folder) override;

 private:
  bool is_normal() const { return options_.mode == ConsoleMode::normal; }

  ConsoleOptions options_;
  std::optional<Progress> progress_;
};

}  // namespace convoy
