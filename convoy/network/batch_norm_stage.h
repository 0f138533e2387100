// SPDX-License-Identifier: Apache-2.0
//
// BatchNormStage: batch normalisation, and what follows it: the sum with a residual, a
// ReLU, a max pool.
//
//   forward    y -> mean and variance -> scale * y + shift (+ residual) -> ReLU -> pool
//   backward   undo pool and ReLU -> sums over the batch -> gradient of y
//
// A task takes one channel through the whole batch, so its numbers are read again while
// they are in cache, and no sum is shared by tasks. A pool is done and undone a few rows
// at a time in the thread's scratch. Images that only fill up the last pack are left out
// of all sums, and their gradient is zero.

#pragma once

#include "convoy/network/model.h"
#include "convoy/network/stage.h"

namespace convoy {

struct BatchNormOptions {
  bool relu = false;
  bool residual = false;
  int pool = 0;          // window and stride of the pool that follows; 0: none
  Range scale, shift;    // in the parameters
  Range mean, variance;  // in the statistics
};

class BatchNormStage final : public Stage {
 public:
  BatchNormStage(const StageContext& context, const BatchNormOptions& options);

  void forward(const Pass& pass, const float* src, float* dst) override;
  void backward(const Pass& pass, const Activation& src, const Activation& dst) override;

  bool backward_reads_src() const override { return true; }
  bool backward_reads_dst() const override { return options_.relu; }

 private:
  /// A channel is normalised as (y - mean) * inverse, inverse being 1 / standard
  /// deviation.
  struct Moments {
    float mean;
    float inverse;
  };
  /// d(y) = from_gradient * g + from_source * (y - mean) + constant.
  struct Coefficients {
    float from_gradient, from_source, constant;
  };

  Moments measure(const Pass& pass, const float* src, std::size_t channel) const;
  Moments running(const Pass& pass, std::size_t channel) const;
  void normalize(const Pass& pass, std::size_t pack, std::size_t channel, Moments moments,
                 const float* src, float* dst, float* rows) const;
  void pool_rows(const Pass& pass, std::size_t dst_plane, float* rows, int row,
                 float* dst) const;
  void mask(const Pass& pass, std::size_t pack, std::size_t channel,
            const Activation& dst) const;
  Coefficients sum_gradients(const Pass& pass, std::size_t channel, const float* src,
                             const float* dst_gradient, float* rows) const;
  void source_backward(const Pass& pass, std::size_t pack, std::size_t channel,
                       const Coefficients& coefficients, const Activation& src,
                       const float* dst_gradient, float* rows) const;

  /// Calls work(source offset, size, gradient) for the planes of one channel, a pack or,
  /// where there is a pool to undo, a few rows at a time.
  template <class Work>
  void for_gradients(const Pass& pass, std::size_t pack, std::size_t channel,
                     const float* dst_gradient, float* rows, const Work& work) const;

  std::size_t plane(Shape shape, std::size_t pack, std::size_t channel) const {
    return (pack * static_cast<std::size_t>(shape.channels) + channel) * shape.pixels() *
           kPack;
  }
  double numbers_in_channel(const Pass& pass) const;
  float* thread_rows(const Pass& pass, SlotId scratch, int thread) const;

  BatchNormOptions options_;
  Shape src_, dst_;
  std::size_t row_floats_;  // of the source
  SlotId moments_, argmax_, forward_rows_, backward_rows_;
};

}  // namespace convoy
