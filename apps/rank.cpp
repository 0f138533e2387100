// SPDX-License-Identifier: Apache-2.0

#include "apps/rank.h"

#include <fmt/format.h>

#include "convoy/launch/membership.h"
#include "convoy/ps/server_addresses.h"
#include "convoy/train/local_updates.h"
#include "convoy/train/served_updates.h"
#include "convoy/train/worker.h"

namespace convoy {

TrainingView told_to(Membership& job, const TrainingView& view) {
  TrainingView told = view;
  told.on_folder = [&job](const std::filesystem::path& path) {
    job.store().set(kRunFolderKey, path.string());
  };
  told.on_step = [&job](std::size_t step) { job.at_step(step); };
  return told;
}

namespace {

/// As a parameter server: workers bring the gradients.
ExitCode join_as_server(const Settings& settings, const Place& place,
                        const TrainingView& view) {
  return join_and_serve(
      settings, place,
      [&](const Settings& own, Comm& servers, Membership& job, Listener listener) {
        const ServerAddress address{listener.address, listener.port};
        const auto tell_workers = [&] {
          publish_server(job.store(), servers.rank(), address);
        };
        return run_training(
            own, servers, told_to(job, view),
            served_updates({.workers = place.workers(),
                            .token = job.token(),
                            .listener = std::make_shared<Listener>(std::move(listener)),
                            .on_open = tell_workers}));
      });
}

/// As a worker, until the servers say that the run is over. A request to stop is for them
/// to follow, from the first moment on.
ExitCode join_as_worker(const Settings& settings, const Place& place) {
  return join_and_push(settings, place, [&](const Settings& own, Membership& job) {
    const StopRequest stop;
    Worker worker(own, {place.worker(), place.workers(), place.servers});
    const std::vector<ServerAddress> servers =
        find_servers(job.store(), place.servers, milliseconds_of(own.cluster.timeout));
    WorkerPort port(worker.port_options(servers, job.token()));
    return worker.run(port, stop, [&](std::size_t step) { job.at_step(step); }).code;
  });
}

}  // namespace

ExitCode join_and_train(const Settings& settings, const Place& place,
                        const TrainingView& view) {
  // Our own launcher has printed its plan; of others this is the place for it.
  const bool by_others = place.starter != Starter::convoy && place.rank == 0;
  if (by_others && view.mode == ConsoleMode::normal) {
    fmt::print("launch    {}\n", describe(place));
  }
  if (place.is_server()) return join_as_server(settings, place, view);
  if (place.servers > 0) return join_as_worker(settings, place);
  return join_and_work(
      settings, place, [&](const Settings& own, Comm& comm, Membership& job) {
        return run_training(own, comm, told_to(job, view), make_local_updates);
      });
}

}  // namespace convoy
