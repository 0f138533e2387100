// SPDX-License-Identifier: Apache-2.0
//
// ClipNorm: clips gradients by their norm over all parameters.
//
//   scale = min(1, longest / (norm + 1e-6))      as PyTorch's clip_grad_norm_
//
// Squares are added in double precision, in chunks that the layout alone determines, and
// the chunks' sums in order: the norm has the same bits on any number of ranks and
// threads. A caller with the complete gradient calls scale(). A caller with a shard of
// complete chunks adds up those, exchanges its part of sums() with the others, and calls
// finish() when all sums are there:
//
//   clip.add_up(own_chunks, gradients);  gather clip.sums();  scale = clip.finish();
//
// Frozen parameters do not count. Gradients are not modified: the scale is passed to
// Optimizer::update() with them.

#pragma once

#include <span>
#include <vector>

#include "convoy/optimizer/optimizer.h"
#include "convoy/optimizer/param_groups.h"
#include "convoy/system/thread_team.h"

namespace convoy {

struct ClipOptions {
  double longest = 1;
};

class ClipNorm {
 public:
  /// Borrows the team for as long as it lives.
  ClipNorm(const Layout& layout, const ClipOptions& options, ThreadTeam& team);

  /// Returns the factor for the gradients, which are `times` as large as those to be
  /// clipped (a loss scale); the factor is for those.
  float scale(std::span<const float> gradients, double times = 1);
  float scale(const FlatBuffer& gradients) { return scale(gradients.numbers()); }

  /// Chunk c has the elements from c * kOptimizerChunk on.
  void add_up(Range chunks, std::span<const float> gradients);
  void add_up(Range chunks, const FlatBuffer& gradients) {
    add_up(chunks, gradients.numbers());
  }
  /// Sums of squares, by chunk.
  std::span<double> sums() { return sums_; }
  /// Returns the scale. Requires: all chunks' sums are set.
  float finish(double times = 1);

  /// The norm of the last gradients, before they were clipped.
  double norm() const { return norm_; }

 private:
  double longest_;
  ParamGroups counted_;
  std::size_t size_;
  std::vector<double> sums_;
  ThreadTeam& team_;
  double norm_ = 0;
};

}  // namespace convoy
