// SPDX-License-Identifier: Apache-2.0
//
// WorkerSchedule: the batches of each worker of ps_async, which has its own pace.

#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <numeric>
#include <vector>

#include "convoy/ps/async_server.h"
#include "convoy/settings/settings.h"
#include "convoy/setup/workload.h"

namespace convoy {

struct WorkerSchedule {
  /// Throws InputError if the samples cannot be partitioned as the settings say.
  WorkerSchedule(const Settings& settings, const Workload& work, int workers);

  /// Batches per epoch, over all workers.
  std::size_t per_epoch() const {
    return std::accumulate(batches.begin(), batches.end(), std::size_t{0});
  }

  /// The epoch, and the batch within it, of a worker's batch number `sequence`.
  struct Place {
    int epoch;
    std::size_t batch;
  };
  Place place(int worker, std::uint64_t sequence) const {
    const std::size_t count = batches.at(static_cast<std::size_t>(worker));
    return {static_cast<int>(sequence / count) + 1, sequence % count};
  }

  /// Returns the key of the random numbers of a pass. With one worker, it is that of the
  /// step.
  RngKey key(std::uint64_t seed, int worker, std::uint64_t sequence) const {
    return {seed, static_cast<std::uint32_t>(sequence * batches.size() +
                                             static_cast<std::uint64_t>(worker))};
  }

  Parts parts;                       // of the samples, by worker
  std::vector<std::size_t> batches;  // per epoch, by worker
  std::size_t microbatches;          // per push
};

/// Makes the options from the settings.
AsyncServerOptions async_server_options(const Settings& settings,
                                        const WorkerSchedule& course);

/// Formats the staleness for a summary: "mean 1.9, max 7" and the rest.
nlohmann::ordered_json staleness_json(const StalenessRecord& record);
/// Formats the staleness of the steps since the last call.
nlohmann::ordered_json take_staleness_fields(StalenessRecord& record);

}  // namespace convoy
