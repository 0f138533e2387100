// SPDX-License-Identifier: Apache-2.0
//
// TapsGradient: the gradient of a 1x1 convolution's taps, some taps and pixels at a time.
//
// It is a sum over pixels and images, so images are the depth of its matrix product, and
// vectors of the right operand hold channels: gathered pixels are turned, sixteen
// channels by sixteen images. Turned are those of the side with fewer channels, be it the
// source or the output. Pixels are summed chunk by chunk (WinogradPlan), in the order of
// WinogradStage.

#pragma once

#include "convoy/network/pointwise/pixel_product.h"
#include "convoy/network/winograd_plan.h"

namespace convoy {

class TapsGradient {
 public:
  /// With `whole`, one task computes all taps of a chunk.
  TapsGradient(const WinogradPlan& plan, Shape src, Shape dst, bool whole);

  /// Parts that all taps are cut into, whatever the chunk.
  std::size_t parts() const {
    return static_cast<std::size_t>(left_parts_.count) * right_parts_.count;
  }
  std::size_t taps() const {
    return static_cast<std::size_t>(src_.channels) * dst_.channels;
  }
  /// Of one thread.
  std::size_t scratch_floats() const;

  /// What a part of a chunk reads and writes.
  struct Work {
    Chunk chunk;
    std::size_t part;
    Stored src;           // values of the source
    Stored dst_gradient;  // of the output
    float* scratch;
    float* taps;      // [output channel][source channel]
    bool accumulate;  // add to the taps instead of overwriting them
  };

  /// Computes a part of the taps' gradient. Calls use(run, gathered) for each run of
  /// pixels once the output's gradients there are gathered: all channels of them, if
  /// parts are whole.
  template <class Use>
  void run(const Pass& pass, const Work& work, const Use& use) const;

 private:
  /// The channels of a part: those that are rows of the product, and those turned.
  struct Part {
    Range left, right;
  };
  /// A thread's scratch.
  struct Buffers {
    Gathered left, right;
    float* turned;  // [block of channels][pixel][16 images][16 channels]
    float* sums;    // [left][right]
  };

  bool turns_src() const { return src_.channels <= dst_.channels; }
  Shape left_shape() const { return turns_src() ? dst_ : src_; }
  Shape right_shape() const { return turns_src() ? src_ : dst_; }
  Part part(std::size_t number) const;
  Buffers buffers(const Part& part, float* scratch) const;

  /// Calls use(run, first) for the runs of a block of columns, of which `first` come
  /// before the run.
  template <class Use>
  void for_runs(const Chunk& chunk, Range columns, const Use& use) const;

  void turn(const Pass& pass, const Part& part, const Buffers& buffers,
            std::size_t pixels) const;
  void add_pixels(const Pass& pass, const Part& part, const Buffers& buffers,
                  std::size_t pixels, bool first) const;
  void store(const Part& part, const float* sums, const Work& work) const;

  const WinogradPlan& plan_;
  Shape src_, dst_;
  Tiles left_parts_, right_parts_;  // of channels; of blocks of sixteen
  std::size_t pixels_;              // gathered at a time
};

template <class Use>
void TapsGradient::for_runs(const Chunk& chunk, Range columns, const Use& use) const {
  const std::size_t in_pack = plan_.columns_a_pack(chunk);
  const std::size_t above = static_cast<std::size_t>(chunk.first_row) * src_.width;
  for (std::size_t c = columns.begin; c < columns.end;) {
    const std::size_t pixel = c % in_pack;
    const std::size_t count = std::min(columns.end - c, in_pack - pixel);
    use(PixelRun{chunk.first_pack + c / in_pack, above + pixel, count},
        c - columns.begin);
    c += count;
  }
}

template <class Use>
void TapsGradient::run(const Pass& pass, const Work& work, const Use& use) const {
  const Part part = this->part(work.part);
  const Buffers buffers = this->buffers(part, work.scratch);
  const std::size_t columns = plan_.columns(work.chunk);
  for (std::size_t c = 0; c < columns; c += pixels_) {
    const Range block = {c, std::min(columns, c + pixels_)};
    for_runs(work.chunk, block, [&](const PixelRun& run, std::size_t first) {
      const auto at = [&](const Gathered& all) {
        return Gathered{all.first + first * all.pixel, all.pixel};
      };
      const Range rows = part.left, turned = part.right;
      const Stored& left = turns_src() ? work.dst_gradient : work.src;
      const Stored& right = turns_src() ? work.src : work.dst_gradient;
      gather(pass, left, left_shape(), rows, run, at(buffers.left));
      gather(pass, right, right_shape(), turned, run, at(buffers.right));
      use(run, at(turns_src() ? buffers.left : buffers.right));
    });
    turn(pass, part, buffers, block.size());
    add_pixels(pass, part, buffers, block.size(), /*first=*/c == 0);
  }
  store(part, buffers.sums, work);
}

}  // namespace convoy
