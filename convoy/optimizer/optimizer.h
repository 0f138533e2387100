// SPDX-License-Identifier: Apache-2.0
//
// Optimizer: gradients -> new values, over any range of the flat buffer.
//
// An update is elementwise, so ranges may be updated in any order and in parts: a
// strategy that owns a shard updates that shard alone.

#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "convoy/base/range.h"
#include "convoy/optimizer/schedule.h"
#include "convoy/params/flat_buffer.h"

namespace convoy {

/// What an optimizer remembers of every value from step to step.
struct OptimizerSlot {
  std::string_view name;  // PyTorch's
  FlatBuffer& numbers;
};

/// Gradients of the layout or of a range of it, borrowed, and what each of them is
/// multiplied with before it is used.
struct ScaledGradients {
  ScaledGradients(const FlatBuffer& whole, float scale = 1)
      : ScaledGradients(whole.numbers(), 0, scale) {}
  /// `begin` is where in the layout they begin.
  ScaledGradients(std::span<const float> numbers, std::size_t begin, float scale = 1)
      : numbers(numbers), begin(begin), scale(scale) {}

  /// Where the range begins.
  const float* at(Range range) const {
    return numbers.subspan(range.begin - begin, range.size()).data();
  }

  std::span<const float> numbers;
  std::size_t begin;
  float scale;
};

class Optimizer {
 public:
  virtual ~Optimizer() = default;

  /// What the updates to come are made with; the first of them is number `step`, from 0.
  virtual void start_step(std::size_t step, const StepRates& rates) = 0;

  /// All that a checkpoint has to keep, besides the number of the step.
  virtual std::vector<OptimizerSlot> slots() = 0;

  /// Updates the values in `range` from the gradients there. Each element once per step.
  virtual void update(Range range, FlatBuffer& values,
                      const ScaledGradients& gradients) = 0;
};

}  // namespace convoy
