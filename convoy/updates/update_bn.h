// SPDX-License-Identifier: Apache-2.0
//
// Measures the running statistics of values over an epoch of training images, as
// PyTorch's update_bn() does, instead of tracking them while the values change.

#pragma once

#include "convoy/loader/loader.h"
#include "convoy/network/microbatches.h"
#include "convoy/strategy/peers.h"

namespace convoy {

/// What a rank needs to compute its micro-batches of every batch. Everything is borrowed.
struct BatchStatsSource {
  Loader& loader;
  Microbatches& microbatches;
  Peers peers;
  RngKey key;              // of the first batch
  PassListener& listener;  // of the passes
};

/// Sets `statistics`, except frozen ones, to the mean of the batch statistics over an
/// epoch with `values`; each batch has the same weight. Called on all ranks together,
/// which get the same bits, on any number of ranks. The loader is left at the end of the
/// epoch. Throws PeerError.
void update_bn(const BatchStatsSource& source, int epoch, const FlatBuffer& values,
               FlatBuffer& statistics);

}  // namespace convoy
