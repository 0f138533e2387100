// SPDX-License-Identifier: Apache-2.0
//
// Elementwise stages without parameters: a ReLU that no other stage includes, GELU, the
// sum of two branches, dropout.

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

class GeluStage final : public Stage {
 public:
  explicit GeluStage(const StageContext& context)
      : plane_(context.src.pixels() * kPack),
        planes_(static_cast<std::size_t>(context.src.channels)) {}

  void forward(const Pass& pass, const float* src, float* dst) override;
  void backward(const Pass& pass, const Activation& src, const Activation& dst) override;
  bool backward_reads_src() const override { return true; }
  bool backward_reads_dst() const override { return false; }

 private:
  std::size_t plane_;   // one channel of a pack
  std::size_t planes_;  // of a pack
};

/// The sum of two branches, and the ReLU that may follow it.
class AddStage final : public Stage {
 public:
  AddStage(const StageContext& context, bool relu)
      : size_(pack_floats(context.src)), relu_(relu) {}

  void forward(const Pass& pass, const float* src, float* dst) override;
  void backward(const Pass& pass, const Activation& src, const Activation& dst) override;
  bool backward_reads_src() const override { return false; }
  bool backward_reads_dst() const override { return relu_; }

 private:
  std::size_t size_;  // of one pack
  bool relu_;
};

/// Zeroes elements with the layer's probability and scales up the others to make up for
/// it. Which ones is a function of (seed, step, micro-batch, stage, element). Training
/// only.
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
  SlotId kept_;  // one bit per element: [pack][feature] of 16 bits
};

}  // namespace convoy
