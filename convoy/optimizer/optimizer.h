// SPDX-License-Identifier: Apache-2.0
//
// Optimizer: computes new values from gradients, over any range of the flat buffer.
//
// An update is elementwise, so ranges may be updated in any order and in parts: a
// strategy that owns a shard updates only that shard.

#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "convoy/base/range.h"
#include "convoy/optimizer/schedule.h"
#include "convoy/params/flat_buffer.h"

namespace convoy {

/// A buffer of optimizer state with one number per parameter.
struct OptimizerSlot {
  std::string_view name;  // PyTorch's name
  FlatBuffer& numbers;
};

/// Borrowed gradients of the layout or of a range of it, and the factor by which each is
/// multiplied before use.
struct ScaledGradients {
  ScaledGradients(const FlatBuffer& whole, float scale = 1)
      : ScaledGradients(whole.numbers(), 0, scale) {}
  /// `begin` is the offset of the first gradient in the layout.
  ScaledGradients(std::span<const float> numbers, std::size_t begin, float scale = 1)
      : numbers(numbers), begin(begin), scale(scale) {}

  /// Returns the gradients from the beginning of the range on.
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

  /// Sets the rates of the next updates; the first of them is number `step`, from 0.
  virtual void start_step(std::size_t step, const StepRates& rates) = 0;

  /// The state that a checkpoint keeps, besides the step number.
  virtual std::vector<OptimizerSlot> slots() = 0;

  /// Updates the values in `range` from their gradients. Each element is updated once per
  /// step.
  virtual void update(Range range, FlatBuffer& values,
                      const ScaledGradients& gradients) = 0;
};

}  // namespace convoy
