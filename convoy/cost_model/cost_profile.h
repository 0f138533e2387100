// SPDX-License-Identifier: Apache-2.0
//
// CostProfile: the measured costs of computing and exchanging a model on one machine.
//
// Everything was measured while all ranks of the machine did the same at once, each with
// its threads on its own cores. So the numbers include contention for cores, caches and
// memory, and waiting for the slowest rank.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "convoy/cost_model/cost_curve.h"

namespace convoy {

/// The gradients of a unit of the network, in forward order.
struct UnitBytes {
  std::uint64_t bytes = 0;               // of its gradients, padding included
  std::vector<std::uint64_t> tensors{};  // bytes of each tensor

  bool operator==(const UnitBytes&) const = default;
};

struct UnitSeconds {
  double forward = 0, backward = 0;

  bool operator==(const UnitSeconds&) const = default;
};

/// One pass over `samples` samples.
struct PassSeconds {
  std::size_t samples = 0;
  std::vector<UnitSeconds> units{};

  bool operator==(const PassSeconds&) const = default;
};

/// CPU time of a rank for messages over TCP; the time on the link is added to it.
struct MessageSeconds {
  double round = 0;    // a message to one other rank, until it has arrived
  double message = 0;  // for each additional rank
  double byte = 0;     // per byte sent and per byte received

  bool operator==(const MessageSeconds&) const = default;
};

struct CostProfile {
  std::string model;
  int ranks = 1;    // on the machine, at once; they share its cores
  int threads = 1;  // per rank
  int cores = 1;    // of the machine
  std::vector<UnitBytes> units{};
  std::uint64_t statistics_bytes = 0;        // of the batch norms
  std::size_t pack = 1;                      // samples that take as long as one
  std::vector<PassSeconds> passes{};         // by samples, ascending
  double update = 0;                         // of all parameters
  double rest = 0;                           // of a step, besides
  double load = 0;                           // per sample, by the loader's thread
  double sum = 0;                            // per byte of one partial that is added
  double handoff = 0;                        // to the background thread, and back
  CostCurve all_reduce{}, gather_scatter{};  // inside the machine, by bytes of the sum
  /// The small all-gather of a step, inside the machine.
  double agreement = 0;
  MessageSeconds tcp{};

  bool operator==(const CostProfile&) const = default;
};

/// The bytes of all gradients.
std::uint64_t gradient_bytes(const CostProfile& profile);

/// Returns the time of a pass over `samples` samples: linear interpolation between
/// measured passes, by packs.
std::vector<UnitSeconds> pass_of(const CostProfile& profile, std::size_t samples);

}  // namespace convoy
