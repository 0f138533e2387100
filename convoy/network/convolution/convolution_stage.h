// SPDX-License-Identifier: Apache-2.0
//
// ConvolutionStage: a convolution, and the ReLU and max pool that follow it. Its groups
// are convolutions of their own, one after the other.
//
//   forward    a task computes the convolution rows under one row of the result in its
//              thread's scratch, then pools them: the convolution's output never exists
//   backward   a task undoes pool and ReLU for a few channels of a pack and takes their
//              share of the weights' gradient; shares are added pack after pack
//              the source's gradient is itself a convolution, of the output's gradient

#pragma once

#include "convoy/network/convolution/band.h"
#include "convoy/network/layers/convolution.h"
#include "convoy/network/stage.h"

namespace convoy {

/// The parameters of the stage.
inline constexpr std::size_t kTaps = 0, kTapsBias = 1;

// Channels whose gradients one task takes: the height of the weight kernel's tile.
inline constexpr int kChannelsPerTask = 4;

struct ConvolutionOptions {
  Convolution layer;
  bool relu = false;
  int pool = 0;  // window and stride of the pool that follows; 0: none
};

class ConvolutionStage final : public Stage {
 public:
  ConvolutionStage(const StageContext& context, const ConvolutionOptions& options,
                   Shape src);

  void forward(const Pass& pass, Activations src, const Activation& dst) override;
  void backward(const Pass& pass, Activations src, const Activation& dst) override;

  bool backward_reads_src(std::size_t) const override { return true; }
  bool backward_reads_dst() const override { return options_.relu; }
  bool takes_stored() const override { return true; }

 private:
  /// What one group reads and gives.
  struct Group {
    Shape src;
    Shape framed;  // with its padding
    int outputs;   // channels
  };
  static Group group_of(const Convolution& layer, Shape src);

  /// Source pixels in the same phase of both directions, and the taps that reach them.
  struct Phase {
    int a;        // of rows
    int first_x;  // the first column
    AxisPhase rows, columns;

    std::size_t taps() const {
      return static_cast<std::size_t>(rows.count) * columns.count;
    }
  };

  bool is_padded() const { return group_.framed != group_.src; }
  std::size_t biases() const {
    return options_.layer.bias ? static_cast<std::size_t>(options_.layer.channels) : 0;
  }
  int phases() const { return axes_.rows.stride * axes_.columns.stride; }
  /// The number of an output channel of a group among all.
  std::size_t output_number(int group, int channel) const {
    return static_cast<std::size_t>(group) * group_.outputs + channel;
  }

  std::size_t dst_plane() const { return dst_.pixels() * kPack; }
  std::size_t convolved_plane() const { return convolved_.pixels() * kPack; }
  std::size_t forward_buffer() const;
  std::size_t backward_buffer() const;

  void tile_weights(const Pass& pass);
  void convolve_into(const Pass& pass, const Stored& src, std::size_t pack, int row,
                     float* buffer, float* dst, std::size_t dst_channel) const;
  void convolve_row(const Pass& pass, const Stored& src, std::size_t pack, int row,
                    float* buffer, const Stored& dst) const;
  float* finish_gradient(const Pass& pass, std::size_t pack, Range channels,
                         const Activation& dst, float* bias_share, float* buffer) const;
  void undo_pool(const Pass& pass, std::size_t pack, Range channels,
                 const float* dst_gradient, float* gradient) const;
  const float* padded(const Pass& pass, const Stored& src, std::size_t from, int thread,
                      float* buffer) const;
  void weights_backward(const Pass& pass, const Activation& src, const Activation& dst,
                        const Stored& gradient);
  Phase phase(int number) const;
  void copy_phase_tile(const Phase& phase, Range channels, const float* weights,
                       float* tiled) const;
  void tile_weights_for_source(const Pass& pass);
  void source_row_backward(const Pass& pass, const Phase& phase, const float* weights,
                           int y, const Band& gradient, float* src_row,
                           std::size_t src_channel) const;
  Band gradient_band(const Stored& gradient, std::size_t pack, int group, int y,
                     float* buffer) const;
  void source_backward(const Pass& pass, const Stored& gradient,
                       const Stored& src_gradient);

  ConvolutionOptions options_;
  Shape src_;
  Group group_;
  Shape convolved_, dst_;
  struct {
    WindowAxis rows, columns;
  } axes_;
  std::size_t taps_;     // of one output channel
  std::size_t weights_;  // how many there are
  SlotId tiled_weights_, rows_scratch_, argmax_;
  SlotId convolved_gradient_, padded_scratch_, shares_, source_weights_;
};

}  // namespace convoy
