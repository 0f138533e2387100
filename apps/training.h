// SPDX-License-Identifier: Apache-2.0
//
// A training run as a person sees it: plan, progress, outcome.

#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "convoy/base/exit_code.h"
#include "convoy/comm/comm.h"
#include "convoy/launch/place.h"
#include "convoy/train/settings.h"
#include "convoy/train/updates.h"

namespace convoy {

enum class ConsoleMode {
  normal,
  quiet,  // the result alone
  json    // the records and the summary alone, an object a line
};

struct TrainingView {
  std::string command_line;
  int terminal_width = 0;  // of stdout; 0: it is no terminal
  ConsoleMode mode = ConsoleMode::normal;
  /// Whether a launcher keeps a log of what this rank prints, whichever rank it is.
  bool has_log = false;
  /// Told where the run's folder is, as soon as there is one.
  std::function<void(const std::filesystem::path&)> on_folder = nullptr;
  /// Told after each step how many are done.
  std::function<void(std::size_t)> on_step = nullptr;
};

/// Trains. The first rank says what there is to say; the others say nothing.
ExitCode run_training(const Settings& settings, Comm& comm, const TrainingView& view,
                      const UpdatesMaker& make_updates);

/// Prints settings and plan of a job that does not run.
void say_plan(Settings settings, const Place& place);

}  // namespace convoy
