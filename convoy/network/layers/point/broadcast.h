// SPDX-License-Identifier: Apache-2.0
//
// Sums and products of two sources of which the second may be smaller. It is broadcast
// over what it has only one of: channels, height x width, rows of a sample.

#pragma once

#include <memory>

#include "convoy/network/kernels/point/broadcast.h"
#include "convoy/network/layer.h"
#include "convoy/network/stage.h"

namespace convoy {

/// How a part is broadcast to the whole.
class Broadcast {
 public:
  /// Throws InputError, which names the layer, if the part does not fit.
  Broadcast(const char* layer, Shape whole, Shape part);

  Shape whole() const { return whole_; }
  Shape part() const { return part_; }
  bool same() const { return whole_ == part_; }
  /// One row of the part is for all rows of a sample.
  bool over_rows() const { return part_.rows != whole_.rows; }
  bool over_channels() const { return part_.channels != whole_.channels; }
  bool over_features() const { return part_.features() != whole_.features(); }
  /// Of the part, within a pack.
  BroadcastStride stride() const;

 private:
  Shape whole_, part_;
};

enum class BroadcastOperation { add, multiply };

/// The stage of two such sources.
std::unique_ptr<Stage> make_broadcast_stage(const StageContext& context,
                                            const Broadcast& broadcast,
                                            BroadcastOperation operation);

/// Examples of all broadcasts.
std::vector<LayerExample> broadcast_examples(const Layer& layer);

}  // namespace convoy
