// SPDX-License-Identifier: Apache-2.0

#include "apps/rank.h"

#include <fmt/format.h>

#include "convoy/launch/membership.h"

namespace convoy {

TrainingView told_to(Membership& job, const TrainingView& view) {
  TrainingView told = view;
  told.on_folder = [&job](const std::filesystem::path& path) {
    job.store().set(kRunFolderKey, path.string());
  };
  told.on_step = [&job](std::size_t step) { job.at_step(step); };
  return told;
}

ExitCode join_and_train(const Settings& settings, const Place& place,
                        const TrainingView& view) {
  // Our own launcher has printed its plan; of others this is the place for it.
  const bool by_others = place.starter != Starter::convoy && place.rank == 0;
  if (by_others && view.mode == ConsoleMode::normal) {
    fmt::print("launch    {}\n", describe(place));
  }
  return join_and_work(settings, place,
                       [&](const Settings& own, Comm& comm, Membership& job) {
                         return run_training(own, comm, told_to(job, view));
                       });
}

}  // namespace convoy
