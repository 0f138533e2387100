// SPDX-License-Identifier: Apache-2.0
//
// A training run as a person sees it: plan, progress, outcome.

#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "convoy/base/exit_code.h"
#include "convoy/comm/comm.h"
#include "convoy/job/job_placement.h"
#include "convoy/settings/settings.h"
#include "convoy/updates/update_source.h"

namespace convoy {

enum class ConsoleMode {
  normal,
  quiet,  // the result alone
  json    // the records and the summary alone, an object a line
};

struct TrainingView {
  std::string command_line;
  std::string version;     // of the binary and its libraries, for the log
  int terminal_width = 0;  // of stdout; 0: it is no terminal
  ConsoleMode mode = ConsoleMode::normal;
  /// Whether a launcher keeps a log of what this rank prints, whichever rank it is.
  bool has_log = false;
  /// Hears where the run's folder is, as soon as there is one.
  std::function<void(const std::filesystem::path&)> on_folder = nullptr;
  /// Hears after each step how many are done.
  std::function<void(std::size_t)> on_step = nullptr;
};

/// Trains. The first rank says what there is to say; the others say nothing.
ExitCode run_training(const Settings& settings, Comm& comm, const TrainingView& view,
                      const UpdateSourceFactory& make_updates);

/// Prints settings and plan of a job that does not run.
void say_plan(Settings settings, const JobPlacement& placement);

}  // namespace convoy
