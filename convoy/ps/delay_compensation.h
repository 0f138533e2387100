// SPDX-License-Identifier: Apache-2.0
//
// DelayCompensation: corrects a gradient of older values towards that of the current
// values.
//
// A gradient g was computed at the values `pulled`, which have since changed to `values`.
// The first missing term of its Taylor series is the Hessian times the difference;
// DC-ASGD (Zheng et al. 2017) approximates the Hessian's diagonal by the squared
// gradient:
//
//   dc_asgd            g += lambda * g * g * (values - pulled)
//   dc_asgd_adaptive   square = decay * square + (1 - decay) * g * g
//                      g += lambda / (sqrt(square) + eps) * g * g * (values - pulled)
//
// The adaptive form keeps its strength when gradients become small. A lambda of zero
// changes no bit of a gradient.

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
  /// Adaptive: decay per gradient of the mean of squares.
  double decay = 0.95;
};

class DelayCompensation {
 public:
  /// Borrows the team for as long as it lives. Requires: a kind other than none.
  DelayCompensation(const Layout& layout, const CompensationOptions& options,
                    ThreadTeam& team);

  /// Modifies the gradients of `range`; `pulled` are the values of `range` that they were
  /// computed with. Padding and gradients of frozen segments are not changed.
  void compensate(Range range, const FlatBuffer& values, std::span<const float> pulled,
                  std::span<float> gradients);

  /// The state that a checkpoint keeps.
  std::vector<OptimizerSlot> slots();

  /// The bytes of state that `kind` needs for a range.
  static std::size_t bytes(Compensation kind, Range range);

 private:
  /// Pointers to a part in each of the buffers.
  struct Place {
    const float *values, *pulled;
    float *gradients, *squares;  // squares only if adaptive
  };

  void compensate_part(std::size_t count, const Place& place) const;

  CompensationOptions options_;
  std::vector<Range> parts_;          // ranges of trained parameters, in order
  std::optional<FlatBuffer> square_;  // if adaptive
  ThreadTeam& team_;
};

}  // namespace convoy
