// SPDX-License-Identifier: Apache-2.0
//
// A training run in its folder: from settings to an exit code.

#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "convoy/base/exit_code.h"
#include "convoy/comm/comm.h"
#include "convoy/fit/job_shape.h"
#include "convoy/job/job_placement.h"
#include "convoy/run/run_log.h"
#include "convoy/settings/settings.h"
#include "convoy/updates/update_source_factory.h"

namespace convoy {

struct TrainingView {
  std::string command_line;
  std::string version;  // of the binary and its libraries
  RunLog& log;          // borrowed
  /// Called with the run's folder, as soon as it exists.
  std::function<void(const std::filesystem::path&)> on_folder = nullptr;
  /// Called after each step with the number of completed steps.
  std::function<void(std::size_t)> on_step = nullptr;
  JobShape job{};  // whose memory is planned
};

/// Trains. The first rank reports to the log; the others only get their progress from it.
ExitCode run_training(const Settings& settings, Comm& comm, const TrainingView& view,
                      const UpdateSourceFactory& make_updates);

/// Returns the plan of a run without running it.
std::string planned_job(Settings settings, const JobPlacement& placement);

}  // namespace convoy
