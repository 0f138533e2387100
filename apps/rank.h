// SPDX-License-Identifier: Apache-2.0
//
// One rank of a training run on several processes.

#pragma once

#include "apps/training.h"
#include "convoy/comm/key_value_store.h"
#include "convoy/launch/place.h"

namespace convoy {

/// Joins the job and trains. When a peer is lost, waits for the verdict on who it was.
ExitCode join_and_train(Settings settings, const Place& place, const TrainingView& view);

/// Connects to the other ranks through the store that all of them share, and trains.
ExitCode run_as_rank(const Settings& settings, const Place& place, KeyValueStore& store,
                     const TrainingView& view);

}  // namespace convoy
