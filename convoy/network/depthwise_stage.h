// SPDX-License-Identifier: Apache-2.0
//
// DepthwiseStage: a convolution whose output channels read one channel of the source
// each. There is little arithmetic for what it reads, so it runs at the speed of memory.
//
//   forward    a task computes one output channel of a pack
//   backward   a task takes one source channel of a pack: its share of the weights'
//              gradient, then the gradient of the source, while both are in the cache

#pragma once

#include <vector>

#include "convoy/network/kernels/depthwise.h"
#include "convoy/network/layers/convolution.h"
#include "convoy/network/stage.h"

namespace convoy {

class DepthwiseStage final : public Stage {
 public:
  /// Requires: the layer is depthwise for this source.
  DepthwiseStage(const StageContext& context, const Convolution& layer, Shape src);

  void forward(const Pass& pass, Activations src, const Activation& dst) override;
  void backward(const Pass& pass, Activations src, const Activation& dst) override;

  bool backward_reads_src(std::size_t) const override { return true; }
  bool backward_reads_dst() const override { return false; }

 private:
  std::size_t src_plane() const { return src_.pixels() * kPack; }
  std::size_t dst_plane() const { return dst_.pixels() * kPack; }
  /// Output channels of one source channel.
  int multiplier() const { return dst_.channels / src_.channels; }

  /// A source channel of a pack, and its thread's memory.
  struct Plane {
    std::size_t pack;
    int channel;
    float* scratch;
  };
  /// Source pixels in the same phase of both directions.
  struct Phase {
    AxisPhase rows, columns;
    int first_x;             // of these pixels
    std::size_t first_taps;  // where its taps begin among those of all phases
  };

  void weights_backward(const Pass& pass, const Plane& of, const float* src,
                        const float* gradient);
  void source_backward(const Pass& pass, const Plane& of, const float* gradient,
                       float* src_gradient) const;
  void copy_reversed(const float* taps, float* reversed) const;
  /// How a phase is a convolution of the output's gradient, but for the row.
  DepthwiseRow phase_row(const Phase& phase, const float* reversed) const;

  Shape src_, dst_;
  WindowAxis rows_, columns_;
  std::size_t taps_;              // of one output channel
  std::size_t weights_, biases_;  // how many there are
  std::vector<Phase> phases_;     // [of rows][of columns]
  SlotId shares_{}, scratch_{};
};

}  // namespace convoy
