// SPDX-License-Identifier: Apache-2.0
//
// PointwiseStage: a convolution with a single tap and stride one, without a bias. It is a
// matrix product over channels, done a few pixels at a time while they are in the cache:
//
//   forward    a task gathers some pixels of a pack and computes some output channels
//   backward   a task gathers pixels of the output's gradient for the gradient of the
//              source, others compute that of the taps; where there are chunks enough for
//              all threads, a task does both for a chunk, which is then read once
//
// The bits are those of WinogradStage (form p1), which has the layers with a bias or a
// ReLU, and those with few pixels.

#pragma once

#include "convoy/network/layers/convolution.h"
#include "convoy/network/pointwise/taps_gradient.h"

namespace convoy {

class PointwiseStage final : public Stage {
 public:
  /// Whether the stage is for such a layer, of which WinogradPlan chose the form p1.
  static bool fits(const StageContext& context, const Convolution& layer, Shape src);

  /// Requires: fits(context, layer, src).
  PointwiseStage(const StageContext& context, const Convolution& layer, Shape src);

  void forward(const Pass& pass, Activations src, const Activation& dst) override;
  void backward(const Pass& pass, Activations src, const Activation& dst) override;

  bool backward_reads_src(std::size_t) const override { return true; }
  bool backward_reads_dst() const override { return false; }
  bool takes_stored() const override { return true; }

 private:
  static constexpr std::size_t kTileFloats =
      kMostPixelsAtATime * GroupedMatrix::kMostRows * kPack;

  /// One direction: what is gathered, and the matrix by which it is multiplied.
  struct Direction {
    Shape from, to;
    GroupedMatrix matrix;
    std::size_t pixels;  // of a task
    SlotId factors{}, scratch{};

    /// Of a thread: gathered pixels, and a tile of results that are streamed.
    std::size_t scratch_floats() const {
      return pixels * Gathered::pixel_floats(matrix.depth()) + kTileFloats;
    }
  };
  struct Tasks {
    std::size_t blocks;  // of pixels of a pack
    std::size_t packs;
    Tiles groups;  // of the matrix's groups

    std::size_t count() const { return blocks * packs * groups.count; }
  };

  static Direction direction(Shape from, Shape to);
  static Tasks tasks(const Pass& pass, const Direction& direction);
  static void run_task(const Pass& pass, const Direction& direction, const Tasks& tasks,
                       std::size_t task, const Stored& from, float* scratch,
                       const Stored& to);
  static void multiply_run(const Pass& pass, const Direction& direction, Range groups,
                           const PixelRun& run, const Gathered& gathered, float* tile,
                           const Stored& to);

  float* backward_scratch(const Pass& pass, int thread) const;
  void chunks_backward(const Pass& pass, const Activation& src,
                       const Stored& dst_gradient) const;
  void apart_backward(const Pass& pass, const Activation& src,
                      const Stored& dst_gradient) const;
  void taps_backward(const Pass& pass, std::size_t task, const Stored& src,
                     const Stored& dst_gradient, float* scratch) const;

  WinogradPlan plan_;
  bool shares_chunks_;  // each chunk has its share of the taps' gradient
  bool together_;       // a task computes both gradients of a chunk
  TapsGradient taps_;
  Direction forward_, backward_;
  std::size_t scratch_floats_ = 0;  // of a thread in backward
  SlotId shares_{};
};

}  // namespace convoy
