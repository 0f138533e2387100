// SPDX-License-Identifier: Apache-2.0
//
// DelayCompensation: a gradient of older values, moved towards that of the values now.
//
// A gradient g was computed at values that have since gone from `pulled` to `values`. The
// first term of its Taylor series that is missing is the Hessian times that way; DC-ASGD
// (Zheng et al. 2017) takes the gradient's own squares for the Hessian's diagonal:
//
//   dc_asgd            g += lambda * g * g * (values - pulled)
//   dc_asgd_adaptive   square = decay * square + (1 - decay) * g * g
//                      g += lambda / (sqrt(square) + eps) * g * g * (values - pulled)
//
// The adaptive form keeps its strength when gradients get small. A lambda of zero changes
// no bit of a gradient.

#pragma once

#include <optional>
#include <span>
#include <vector>

#include "convoy/base/range.h"
#include "convoy/optimizer/optimizer.h"
#include "convoy/params/flat_buffer.h"
#include "convoy/settings/setting_choices.h"
#include "convoy/system/thread_team.h"

namespace convoy {

struct CompensationOptions {
  Compensation kind = Compensation::none;
  double lambda = 2;
  double decay = 0.95;                // adaptive: of the mean of squares, a gradient
  std::optional<SegmentId> frozen{};  // keeps its values: its gradient is left alone
};

class DelayCompensation {
 public:
  /// Borrows the team for as long as it lives. Requires: a kind other than none.
  DelayCompensation(const Layout& layout, const CompensationOptions& options,
                    ThreadTeam& team);

  /// Changes gradients, which are those of `range`, as is `pulled`, the values that they
  /// were computed with. Padding is left as it is.
  void compensate(Range range, const FlatBuffer& values, std::span<const float> pulled,
                  std::span<float> gradients);

  /// All that a checkpoint has to keep.
  std::vector<OptimizerSlot> slots();

  /// Of the state: what `kind` needs for a range.
  static std::size_t bytes(Compensation kind, Range range);

 private:
  /// Where a part begins in each of the buffers.
  struct Place {
    const float *values, *pulled;
    float *gradients, *squares;  // the latter if adaptive
  };

  void compensate_part(std::size_t count, const Place& place) const;

  CompensationOptions options_;
  std::vector<Range> parts_;          // of parameters that are not frozen, in order
  std::optional<FlatBuffer> square_;  // if adaptive
  ThreadTeam& team_;
};

}  // namespace convoy
