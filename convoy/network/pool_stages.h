// SPDX-License-Identifier: Apache-2.0
//
// Pooling stages: a max pool that no convolution or batch norm includes, and average
// pool.

#pragma once

#include "convoy/network/model.h"
#include "convoy/network/stage.h"

namespace convoy {

/// Any window, stride and padding; windows may overlap. With padding, a plane is pooled
/// and unpooled in a framed copy.
class MaxPoolStage final : public Stage {
 public:
  MaxPoolStage(const StageContext& context, const MaxPool& layer, Shape dst);

  void forward(const Pass& pass, const float* src, float* dst) override;
  void backward(const Pass& pass, const Activation& src, const Activation& dst) override;
  bool backward_reads_src() const override { return false; }
  bool backward_reads_dst() const override { return false; }

 private:
  std::size_t framed_floats() const {
    return static_cast<std::size_t>(src_.height + 2 * layer_.padding) * framed_row_;
  }
  const float* framed(const Pass& pass, const float* plane, int thread) const;

  MaxPool layer_;
  Shape src_, dst_;
  std::size_t framed_row_;  // floats of a row with its frame
  SlotId argmax_, forward_frame_, backward_frame_;
};

/// The mean of each window. Windows do not overlap; pixels that no window covers do not
/// count.
class AveragePoolStage final : public Stage {
 public:
  AveragePoolStage(const StageContext& context, const AveragePool& layer, Shape dst)
      : src_(context.src), window_(pool_window(layer, context.src)), dst_(dst) {}

  void forward(const Pass& pass, const float* src, float* dst) override;
  void backward(const Pass& pass, const Activation& src, const Activation& dst) override;
  bool backward_reads_src() const override { return false; }
  bool backward_reads_dst() const override { return false; }

 private:
  /// Calls work(offset in src, offset in dst) for each pixel of one plane that a window
  /// covers, sixteen images at a time.
  template <class Work>
  void for_pixels(std::size_t plane, const Work& work) const;

  Shape src_, window_, dst_;
};

}  // namespace convoy
