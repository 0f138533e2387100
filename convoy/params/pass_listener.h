// SPDX-License-Identifier: Apache-2.0
//
// PassListener: the events of a pass.
//
// This is the complete interface between network/ and strategy/. The network calls it and
// knows nothing of ranks; a strategy implements it and knows nothing of layers. Both
// refer only to the units and segments of a Layout.
//
// A step has one pass per micro-batch of this rank. A pass of a network with units 0 ..
// n-1 consists of:
//
//   begin_microbatch(..)
//   before_forward(0) after_forward(0) ... before_forward(n-1) after_forward(n-1)
//   before_backward(n-1) gradient_ready(..)* after_backward(n-1)
//   ...                  before_backward(0)  gradient_ready(..)* after_backward(0)
//
// Only the last pass has gradient_ready: then the sums over all passes are final. Frozen
// segments never have it, and units behind which nothing is trained have neither
// before_backward nor after_backward. Calls come from one thread, in the same order on
// every rank. If micro-batches are dealt in turn (params/microbatch_part.h), every rank
// has as many passes as the one that has most: the last may be of a micro-batch that does
// not exist, without samples.

#pragma once

#include <cstddef>

#include "convoy/params/layout.h"

namespace convoy {

/// One of the passes of a step.
struct MicrobatchPass {
  std::size_t microbatch = 0;  // its number in the global batch, or the next after all
  bool is_last = true;         // of this rank: its gradients complete the sums

  bool operator==(const MicrobatchPass&) const = default;
};

class PassListener {
 public:
  virtual ~PassListener() = default;

  /// The events until the next call belong to the pass of this micro-batch.
  virtual void begin_microbatch(const MicrobatchPass&) {}

  /// The unit's values are about to be read. They must be complete on return.
  virtual void before_forward(UnitId) {}

  /// The unit's values are not read again before before_backward.
  virtual void after_forward(UnitId) {}

  /// As before_forward, for the backward pass.
  virtual void before_backward(UnitId) {}

  /// The segment's gradient is final, and its value is not read again in this step.
  /// Called once per step for each trained segment, a shared one included.
  virtual void gradient_ready(SegmentId) {}

  /// The pass does not read the unit's values again, and its gradients are those of the
  /// pass: in the last one the final sums, unless micro-batches are dealt in turn.
  virtual void after_backward(UnitId) {}
};

}  // namespace convoy
