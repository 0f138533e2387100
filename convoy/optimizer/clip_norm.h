// SPDX-License-Identifier: Apache-2.0
//
// ClipNorm: gradients of at most a given length, over all parameters together.
//
//   scale = min(1, longest / (norm + 1e-6))      as PyTorch's clip_grad_norm_
//
// Squares are added in double precision, in chunks that the layout alone fixes, and the
// chunks' sums in their order: a norm has the same bits on any ranks and threads. Who has
// the whole gradient asks for scale(). Who has a shard of whole chunks adds up those,
// sends the others what it has of sums(), and asks for finish() when all are there:
//
//   clip.add_up(own_chunks, gradients);  gather clip.sums();  scale = clip.finish();
//
// Gradients are not written: the scale goes to Optimizer::update() with them.

#pragma once

#include <optional>
#include <span>
#include <vector>

#include "convoy/optimizer/optimizer.h"
#include "convoy/optimizer/param_groups.h"
#include "convoy/system/thread_team.h"

namespace convoy {

struct ClipOptions {
  double longest = 1;
  std::optional<SegmentId> frozen{};  // is no parameter: its gradient does not count
};

class ClipNorm {
 public:
  /// Borrows the team for as long as it lives.
  ClipNorm(const Layout& layout, const ClipOptions& options, ThreadTeam& team);

  /// What the gradients are to be multiplied with.
  float scale(std::span<const float> gradients);
  float scale(const FlatBuffer& gradients) { return scale(gradients.numbers()); }

  /// Chunk c has the elements from c * kOptimizerChunk on.
  void add_up(Range chunks, std::span<const float> gradients);
  void add_up(Range chunks, const FlatBuffer& gradients) {
    add_up(chunks, gradients.numbers());
  }
  /// Of squares, by chunk.
  std::span<double> sums() { return sums_; }
  /// The scale. Requires: every chunk's sum is there.
  float finish();

  /// Of the gradients last asked for, before they were scaled.
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
