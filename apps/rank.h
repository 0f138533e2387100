// SPDX-License-Identifier: Apache-2.0
//
// One rank of a job on several processes.

#pragma once

#include <functional>

#include "apps/training.h"
#include "convoy/comm/comm.h"
#include "convoy/launch/place.h"

namespace convoy {

class Membership;

/// What a rank does in a job: with its settings, connected to the others, and with the
/// store that all of them share.
using RankWork = std::function<ExitCode(const Settings&, Comm&, Membership&)>;

/// Joins the job, connects to the other ranks and works. When a peer is lost, waits for
/// the verdict on who it was.
ExitCode join_and_work(Settings settings, const Place& place, const RankWork& work);

/// Joins the job and trains.
ExitCode join_and_train(const Settings& settings, const Place& place,
                        const TrainingView& view);

}  // namespace convoy
