// SPDX-License-Identifier: Apache-2.0
//
// WorkerSchedule: what each worker of ps_async has to go through, at its own pace.

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
  /// Throws InputError if the samples cannot be parted so.
  WorkerSchedule(const Settings& settings, const Workload& work, int workers);

  /// Of all workers.
  std::size_t per_epoch() const {
    return std::accumulate(batches.begin(), batches.end(), std::size_t{0});
  }

  /// The epoch and the batch in it that number `sequence` of a worker is.
  struct Place {
    int epoch;
    std::size_t batch;
  };
  Place place(int worker, std::uint64_t sequence) const {
    const std::size_t count = batches.at(static_cast<std::size_t>(worker));
    return {static_cast<int>(sequence / count) + 1, sequence % count};
  }

  /// What random numbers of a pass are keyed with. With one worker: the step.
  RngKey key(std::uint64_t seed, int worker, std::uint64_t sequence) const {
    return {seed, static_cast<std::uint32_t>(sequence * batches.size() +
                                             static_cast<std::uint64_t>(worker))};
  }

  Parts parts;                       // of the samples, by worker
  std::vector<std::size_t> batches;  // of an epoch, by worker
  std::size_t microbatches;          // of a push
};

/// What the settings choose.
AsyncServerOptions async_server_options(const Settings& settings, const Layout& layout,
                                        const WorkerSchedule& course);

/// "mean 1.9, max 7" and the rest, as a summary has it.
nlohmann::ordered_json staleness_json(const StalenessRecord& record);
/// Of the steps since the last time.
nlohmann::ordered_json take_staleness_fields(StalenessRecord& record);

}  // namespace convoy
