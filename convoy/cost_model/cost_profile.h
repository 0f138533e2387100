// SPDX-License-Identifier: Apache-2.0
//
// CostProfile: what a model's computing and exchanging cost on one machine, measured.
//
// Everything was measured while as many ranks as the machine is to have did the same at
// once, each with its threads on its own cores: so the numbers include what ranks take
// from each other (cores, caches, memory, and waiting for the slowest).

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "convoy/cost_model/cost_curve.h"

namespace convoy {

/// What a unit of the network has, in forward order.
struct UnitBytes {
  std::uint64_t bytes = 0;               // of its gradients, padding included
  std::vector<std::uint64_t> tensors{};  // of each tensor

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

/// What a rank's own processor does for messages over TCP; the link's time is added.
struct MessageSeconds {
  double round = 0;    // of a message to one other rank, until it is there
  double message = 0;  // for each further rank
  double byte = 0;     // of a byte sent, and one received

  bool operator==(const MessageSeconds&) const = default;
};

struct CostProfile {
  std::string model;
  int ranks = 1;    // of the machine, at once; they share its cores
  int threads = 1;  // of each
  int cores = 1;    // of the machine
  std::vector<UnitBytes> units{};
  std::uint64_t statistics_bytes = 0;        // that batch norms find
  std::size_t pack = 1;                      // samples that take as long as one
  std::vector<PassSeconds> passes{};         // by samples, ascending
  double update = 0;                         // of all values
  double rest = 0;                           // of a step, besides
  double load = 0;                           // per sample, by the loader's thread
  double sum = 0;                            // per byte of one partial that is added
  double handoff = 0;                        // to the thread that exchanges, and back
  CostCurve all_reduce{}, gather_scatter{};  // inside the machine, by bytes of the sum
  double agreement = 0;                      // the small message of a step, inside it
  MessageSeconds tcp{};

  bool operator==(const CostProfile&) const = default;
};

/// The bytes of all gradients.
std::uint64_t gradient_bytes(const CostProfile& profile);

/// A pass over `samples` samples: linear interpolation between those measured, by packs.
std::vector<UnitSeconds> pass_of(const CostProfile& profile, std::size_t samples);

}  // namespace convoy
