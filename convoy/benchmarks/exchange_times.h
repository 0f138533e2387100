// SPDX-License-Identifier: Apache-2.0
//
// ExchangeTimes: how long operations between the ranks of this machine take, by size.
//
// Numbers come from a buffer as large as the model's gradients, round and round, as in a
// step: small tensors come from the cache only if the model fits it.

#pragma once

#include "convoy/comm/comm.h"
#include "convoy/cost_model/cost_profile.h"

namespace convoy {

struct ExchangeTimesOptions {
  std::uint64_t model_bytes = 0;  // of all gradients
  double seconds = 0.2;           // how long to measure a size
};

/// Fills in what exchanging costs inside this machine. Nothing if there is one rank.
void measure_exchanges(const ExchangeTimesOptions& options, Comm& comm,
                       CostProfile& profile);

/// Of an all-reduce with that Comm.
CostCurve measure_all_reduce(const ExchangeTimesOptions& options, Comm& comm);

}  // namespace convoy
