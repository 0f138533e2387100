// SPDX-License-Identifier: Apache-2.0
//
// From a place in a job to work in it: as a rank of a job without servers, as a parameter
// server, or as a worker of one.
//
// Each of these joins the job, does the work and leaves. When a peer is lost they wait
// for the outcome, which names it; of several ranks with the same error, one prints it.

#pragma once

#include <functional>
#include <vector>

#include "convoy/base/exit_code.h"
#include "convoy/comm/comm.h"
#include "convoy/job/job_placement.h"
#include "convoy/ps_transport/worker_port.h"
#include "convoy/settings/settings.h"
#include "convoy/wire/socket.h"

namespace convoy {

class Membership;

/// What a rank does in a job: with its settings, connected to the others, and with the
/// store that all of them share.
using RankWork = std::function<ExitCode(const Settings&, Comm&, Membership&)>;

/// What a parameter server does: connected to the other servers, and already listening
/// for workers. As soon as it would answer them it calls publish_server(); they wait for
/// that up to `cluster.timeout`.
using ServeWork =
    std::function<ExitCode(const Settings&, Comm& servers, Membership&, Listener)>;

/// What a worker does. When it is ready for them it asks find_servers() where they are.
using PushWork = std::function<ExitCode(const Settings&, Membership&)>;

/// Requires: a job without servers.
ExitCode join_and_work(const Settings& settings, const JobPlacement& placement,
                       const RankWork& work);

/// Requires: a server's place.
ExitCode join_and_serve(const Settings& settings, const JobPlacement& placement,
                        const ServeWork& work);

/// Requires: a worker's place.
ExitCode join_and_push(const Settings& settings, const JobPlacement& placement,
                       const PushWork& work);

}  // namespace convoy
