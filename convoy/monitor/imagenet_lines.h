// SPDX-License-Identifier: Apache-2.0
//
// The lines of PyTorch's ImageNet example, which console.style=imagenet prints:
//
//   Epoch: [1][ 99/391]	Loss 2.3966e+00 (2.3767e+00)	Acc@1  43.75 ( 46.46)
//   Acc@5
//   ...
//    * Val Acc@1 46.780 Val Acc@5 72.148
//   Training complete in: 0:48:45.460161
//
// Epochs and batches are counted from 0; numbers are those of a batch and, in brackets,
// of the epoch so far. Scripts parse these lines: changing them is a breaking change.

#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convoy/params/loss_sum.h"

namespace convoy {

/// A batch of an epoch: of training or of an evaluation.
struct BatchPlace {
  int epoch = 1;          // from 1
  std::size_t batch = 0;  // from 0
  std::size_t batches = 0;
};

std::string batch_line(const BatchPlace& place, const LossSum& batch,
                       const LossSum& so_far);

/// `half` is "Train" or "Val".
std::string epoch_accuracy_line(std::string_view half, const LossSum& sum);

std::string completion_line(double seconds);

/// Joins batches of an evaluation to batches of 64 samples, as the example evaluates, if
/// they are smaller than that.
std::vector<LossSum> shown_batches(std::span<const LossSum> batches,
                                   std::size_t batch_size);

}  // namespace convoy
