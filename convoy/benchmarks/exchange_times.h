// SPDX-License-Identifier: Apache-2.0
//
// ExchangeTimes: measures operations between the ranks of this machine, by size.
//
// Messages are taken from a buffer as large as the model's gradients, cyclically, as in a
// step: small tensors are in cache only if the model fits in it.

#pragma once

#include "convoy/comm/comm.h"
#include "convoy/cost_model/cost_profile.h"

namespace convoy {

struct ExchangeTimesOptions {
  std::uint64_t model_bytes = 0;  // of all gradients together
  double seconds = 0.2;           // measuring time per size
};

/// Fills in the cost of exchanges inside this machine. Does nothing if there is one rank.
void measure_exchanges(const ExchangeTimesOptions& options, Comm& comm,
                       CostProfile& profile);

/// Returns the seconds of an all-reduce with that Comm.
CostCurve measure_all_reduce(const ExchangeTimesOptions& options, Comm& comm);

}  // namespace convoy
