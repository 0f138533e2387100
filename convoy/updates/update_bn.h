// SPDX-License-Identifier: Apache-2.0
//
// The running statistics that values should have: measured over an epoch of training
// images, as PyTorch's update_bn() does, instead of followed while the values changed.

#pragma once

#include "convoy/loader/loader.h"
#include "convoy/network/microbatches.h"
#include "convoy/strategy/peers.h"

namespace convoy {

/// Borrowed, all of it: what a rank needs to see its micro-batches of every batch.
struct BatchStatsSource {
  Loader& loader;
  Microbatches& microbatches;
  Peers peers;
  RngKey key;  // of the first batch
};

/// Puts into `statistics` the mean of what the batch norms find in each batch of an epoch
/// with `values`, each batch counting the same. Together with all ranks, which get the
/// same bits, on any number of them. The loader is left at the epoch's end. Throws
/// PeerError.
void update_bn(const BatchStatsSource& source, int epoch, const FlatBuffer& values,
               FlatBuffer& statistics);

}  // namespace convoy
