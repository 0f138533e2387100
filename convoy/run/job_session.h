// SPDX-License-Identifier: Apache-2.0
//
// Joins a job as a rank without parameter servers, as a parameter server, or as a worker
// of one.
//
// Each of these joins the job, does the work and leaves. When a peer is lost they wait
// for the job's outcome, which names it; if several ranks have the same error, one of
// them throws it.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "convoy/base/exit_code.h"
#include "convoy/comm/comm.h"
#include "convoy/job/job_placement.h"
#include "convoy/ps_transport/worker_port.h"
#include "convoy/settings/settings.h"
#include "convoy/wire/socket.h"

namespace convoy {

class Membership;

/// How a session reaches the application, which prints and exits.
struct JobCallbacks {
  /// Receives a message for people. Any thread may call it.
  std::function<void(const std::string&)> warn;
  /// Ends the process at once. Called on a separate thread if the job has failed, there
  /// is no launcher, and the process has not ended within a few seconds.
  std::function<void(ExitCode)> end_process;
};

/// The work of a rank, with its settings, connected to the other ranks.
using RankWork = std::function<ExitCode(const Settings&, Comm&, Membership&)>;

/// The work of a parameter server, connected to the other servers and already listening
/// for workers. As soon as it can answer them it calls publish_server(); workers wait for
/// that up to `cluster.timeout`.
using ServeWork =
    std::function<ExitCode(const Settings&, Comm& servers, Membership&, Listener)>;

/// The work of a worker. When it is ready it gets the servers' addresses from
/// find_servers().
using PushWork = std::function<ExitCode(const Settings&, Membership&)>;

/// Requires: a job without servers.
ExitCode join_and_work(const Settings& settings, const JobPlacement& placement,
                       const JobCallbacks& callbacks, const RankWork& work);

/// Requires: this rank is a server.
ExitCode join_and_serve(const Settings& settings, const JobPlacement& placement,
                        const JobCallbacks& callbacks, const ServeWork& work);

/// Requires: this rank is a worker.
ExitCode join_and_push(const Settings& settings, const JobPlacement& placement,
                       const JobCallbacks& callbacks, const PushWork& work);

}  // namespace convoy
