// SPDX-License-Identifier: Apache-2.0
//
// DepthwiseStage: a convolution whose output channels read one channel of the source
// each. There is little arithmetic for what it reads, so it runs at the speed of memory.
//
//   forward    a task computes one output channel of a pack
//   backward   a task takes one source channel of a pack, a few rows at a time: their
//              share of the weights' gradient, then the gradient of the source

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
  bool takes_stored() const override { return true; }

 private:
  std::size_t src_plane() const { return src_.pixels() * kPack; }
  std::size_t dst_plane() const { return dst_.pixels() * kPack; }
  /// Output channels of one source channel.
  int multiplier() const { return dst_.channels / src_.channels; }

  /// A source channel of a pack, its outputs' gradients, and its thread's memory.
  struct Plane {
    std::size_t pack;
    int channel;
    const float* src;
    const float* gradient;
    float* src_gradient;  // nullptr: not needed
    float* sums;          // of taps
    float* reversed;      // taps
  };
  /// Source pixels in the same phase of both directions.
  struct Phase {
    AxisPhase rows, columns;
    int first_x;             // of these pixels
    std::size_t first_taps;  // where its taps begin among those of all phases
  };

  /// A thread's memory: sums of taps, and taps reversed.
  std::size_t thread_floats() const { return taps_ * kPack + round_up(taps_, kPack); }
  void plane_backward(const Pass& pass, const Plane& of) const;
  bool streams_gradient(const Pass& pass) const;
  std::size_t complete_rows(int end) const;
  void bias_backward(const Pass& pass, std::size_t pack, int channel,
                     const float* gradient) const;
  void taps_backward(const Pass& pass, const Plane& of, int channel,
                     const float* gradient, Range rows) const;
  void source_backward(const Pass& pass, const Plane& of, const float* gradient,
                       Range rows, bool accumulate, bool stream) const;
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
