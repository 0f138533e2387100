// SPDX-License-Identifier: Apache-2.0
//
// Stages without parameters: ReLU and max pool where no convolution or linear layer
// precedes them directly, and dropout.

#pragma once

#include "convoy/network/model.h"
#include "convoy/network/stage.h"

namespace convoy {

class ReluStage final : public Stage {
 public:
  explicit ReluStage(const StageContext& context) : size_(pack_floats(context.src)) {}

  void forward(const Pass& pass, const float* src, float* dst) override;
  void backward(const Pass& pass, const Activation& src, const Activation& dst) override;
  bool backward_reads_src() const override { return false; }
  bool backward_reads_dst() const override { return true; }

 private:
  std::size_t size_;  // of one pack
};

/// Any window and step; windows may overlap.
class MaxPoolStage final : public Stage {
 public:
  MaxPoolStage(const StageContext& context, const MaxPool& layer, Shape dst);

  void forward(const Pass& pass, const float* src, float* dst) override;
  void backward(const Pass& pass, const Activation& src, const Activation& dst) override;
  bool backward_reads_src() const override { return false; }
  bool backward_reads_dst() const override { return false; }

 private:
  int window_, step_;
  Shape src_, dst_;
  SlotId chosen_;
};

/// Zeroes elements with the layer's probability and scales up the others to make up for
/// it. Which ones is a function of (seed, step, lane, stage, element). Training only.
class DropoutStage final : public Stage {
 public:
  DropoutStage(const StageContext& context, const Dropout& layer);

  void forward(const Pass& pass, const float* src, float* dst) override;
  void backward(const Pass& pass, const Activation& src, const Activation& dst) override;
  bool backward_reads_src() const override { return false; }
  bool backward_reads_dst() const override { return false; }

 private:
  void scale_kept(const Pass& pass, const float* from, float* to, bool draw) const;

  float probability_;
  std::size_t features_;
  std::uint32_t number_;
  SlotId kept_;  // one bit an element: [pack][feature] of 16 bits
};

}  // namespace convoy
