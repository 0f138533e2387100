// SPDX-License-Identifier: Apache-2.0
//
// StageBytes: what a stage must move through memory at least, however it computes.
//
// Layers that compute little (norms, pools, pointwise ones) are limited by this and not
// by multiplications: their time is compared with the bandwidth probe.

#pragma once

#include <cstddef>
#include <string>

#include "convoy/network/network.h"

namespace convoy {

struct StageBytes {
  double forward = 0, backward = 0;
};

/// What a stage works on in one step.
struct StageLoad {
  std::size_t samples = 0;
  std::size_t passes = 1;           // that share the samples: micro-batches
  bool source_has_gradient = true;  // the model's input has none
};

/// Forward: reads sources and parameters, writes the destination. Backward: reads the
/// destination's gradient and writes those of sources and parameters; for the latter it
/// reads the source once more, for the former the parameters.
StageBytes least_bytes(const StageReport& stage, const StageLoad& load);

}  // namespace convoy
