// SPDX-License-Identifier: Apache-2.0
//
// ComputeTimes: how long batches take on the machines of a virtual cluster.

#pragma once

#include <cstdint>

#include "convoy/base/random.h"
#include "convoy/network/model.h"
#include "convoy/settings/settings.h"

namespace convoy {

/// Milliseconds per batch: the number in sim.compute_ms, or computed from the model's
/// FLOPs and sim.gflops. Requires: it is not "measure".
double batch_milliseconds(const Settings& settings, const Model& model);

/// The same per sample, in seconds.
inline double sample_seconds(const Settings& settings, const Model& model) {
  return batch_milliseconds(settings, model) * 1e-3 / settings.train.batch_size;
}

class ComputeTimes {
 public:
  /// `sample` is the mean time per sample, in seconds.
  ComputeTimes(const SimSettings& settings, double sample, std::uint64_t seed)
      : settings_(settings), sample_(sample), seed_(seed) {}

  /// Seconds of batch number `sequence` of a worker: a function of these and the seed
  /// alone. Never negative.
  double seconds(int worker, std::uint64_t sequence, std::size_t samples) const;

 private:
  double factor(int worker, std::uint64_t sequence) const;

  SimSettings settings_;
  double sample_;
  std::uint64_t seed_;
};

}  // namespace convoy
