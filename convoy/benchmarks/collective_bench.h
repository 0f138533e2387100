// SPDX-License-Identifier: Apache-2.0
//
// CollectiveBench: measures an all-reduce between ranks of this machine, convoy's and
// Gloo's, alternating between the two.

#pragma once

#include <cstddef>
#include <vector>

#include "convoy/comm/comm_options.h"

namespace convoy {

struct CollectiveBenchOptions {
  int ranks = 2;
  Transport transport = Transport::automatic;
  bool threads = false;            // ranks are threads, not processes
  double seconds = 0.5;            // minimum measuring time per size
  std::vector<std::size_t> bytes;  // sizes to measure; none: 4 KiB to 64 MiB
};

struct CollectiveTime {
  double p50_us = 0;
  double gb_per_s = 0;  // bytes of the result per second, at the median
};

struct CollectiveRow {
  std::size_t bytes = 0;
  std::size_t samples = 0;  // of each implementation
  CollectiveTime ours, gloo;
};

/// Verifies every size before it is timed. Throws PeerError if a rank dies.
std::vector<CollectiveRow> bench_collective(const CollectiveBenchOptions& options);

}  // namespace convoy
