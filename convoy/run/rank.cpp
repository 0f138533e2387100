// SPDX-License-Identifier: Apache-2.0

#include "convoy/run/rank.h"

#include <fmt/format.h>

#include "convoy/job/membership.h"
#include "convoy/ps/server_updates.h"
#include "convoy/ps/worker.h"
#include "convoy/ps_transport/server_addresses.h"
#include "convoy/run/fitting_batch.h"
#include "convoy/updates/local_updates.h"

namespace convoy {

TrainingView with_job_callbacks(Membership& job, const TrainingView& view) {
  TrainingView reporting = view;
  reporting.on_folder = [&job](const std::filesystem::path& path) {
    job.store().set(entry_of(RunStarted{path.string()}));
  };
  reporting.on_step = [&job](std::size_t step) { job.at_step(step); };
  return reporting;
}

namespace {

/// Runs a parameter server.
ExitCode join_as_server(const Settings& settings, const JobPlacement& placement,
                        const JobCallbacks& callbacks, const TrainingView& view) {
  return join_and_serve(
      settings, placement, callbacks,
      [&](const Settings& own, Comm& servers, Membership& job, Listener listener) {
        const ServerAddress address{listener.address, listener.port};
        const auto publish_address = [&] {
          publish_server(job.store(), servers.rank(), address);
        };
        return run_training(
            own, servers, with_job_callbacks(job, view),
            server_updates({.workers = placement.workers(),
                            .token = job.token(),
                            .listener = std::make_shared<Listener>(std::move(listener)),
                            .on_open = publish_address}));
      });
}

/// Runs a worker until the servers say that the run is over. Requests to stop are handled
/// by the servers, from the beginning.
ExitCode join_as_worker(const Settings& settings, const JobPlacement& placement,
                        const JobCallbacks& callbacks) {
  return join_and_push(
      settings, placement, callbacks, [&](const Settings& own, Membership& job) {
        const StopRequest stop;
        Worker worker(own, {placement.worker(), placement.workers(), placement.servers,
                            job_shape(own, placement)});
        const std::vector<ServerAddress> servers = find_servers(
            job.store(), placement.servers, milliseconds_of(own.cluster.timeout));
        WorkerPort port(worker.port_options(servers, job.token()));
        return worker.run(port, stop, [&](std::size_t step) { job.at_step(step); }).code;
      });
}

}  // namespace

ExitCode join_and_train(const Settings& settings, const JobPlacement& placement,
                        const JobCallbacks& callbacks, const TrainingView& view) {
  // convoy's launcher has printed its plan; for other launchers it is printed here.
  const bool by_others =
      placement.launcher_kind != LauncherKind::convoy && placement.rank == 0;
  if (by_others) view.log.launched(describe(placement));
  TrainingView planned = view;
  planned.job = job_shape(settings, placement);
  if (placement.servers > 0) refuse_unknown_batch(settings);
  if (placement.is_server()) {
    return join_as_server(settings, placement, callbacks, planned);
  }
  if (placement.servers > 0) return join_as_worker(settings, placement, callbacks);
  return join_and_work(settings, placement, callbacks,
                       [&](const Settings& own, Comm& comm, Membership& job) {
                         return run_training(with_agreed_batch(own, placement, comm),
                                             comm, with_job_callbacks(job, planned),
                                             make_local_updates);
                       });
}

}  // namespace convoy
