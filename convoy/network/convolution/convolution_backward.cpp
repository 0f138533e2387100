// SPDX-License-Identifier: Apache-2.0
//
// ConvolutionStage's backward pass.

#include <algorithm>

#include "convoy/network/convolution/convolution_stage.h"
#include "convoy/network/kernels/convolution.h"
#include "convoy/network/kernels/point/epilogue.h"
#include "convoy/network/kernels/pool.h"
#include "convoy/network/kernels/product.h"
#include "convoy/network/weight_shares.h"

namespace convoy {

void ConvolutionStage::backward(const Pass& pass, Activations src,
                                const Activation& dst) {
  // Without a pool the gradient of the convolution's output is dst's own, masked in
  // place.
  const Stored gradient =
      options_.pool > 0
          ? Stored(pass.arena.get<void>(convolved_gradient_), pass.activations)
          : dst.gradient;
  weights_backward(pass, src[0], dst, gradient);
  const std::size_t share = weights_ + biases(), packs = pass.packs(src_);
  const float* shares = pass.arena.get(shares_);
  add_shares(pass, {shares, share, packs}, {pass.parameters[kTaps].gradient, weights_});
  if (biases() > 0) {
    add_shares(pass, {shares + weights_, share, packs},
               {pass.parameters[kTapsBias].gradient, biases()});
  }
  if (src[0].gradient != nullptr) source_backward(pass, gradient, src[0].gradient);
}

/// Takes a few channels' gradient back through the ReLU and sums it for the bias. Before
/// the pool is undone there is less of it. Returns the gradient.
float* ConvolutionStage::finish_gradient(const Pass& pass, std::size_t pack,
                                         Range channels, const Activation& dst,
                                         float* bias_share, float* buffer) const {
  const EpilogueKernels& kernels = epilogue_kernels(pass.kernels);
  const std::size_t plane = dst_plane(), size = channels.size() * plane;
  const std::size_t first = pack * pack_floats(dst_) + channels.begin * plane;
  float* gradient = dst.gradient.edit(first, size, buffer);
  for (std::size_t i = 0; i < channels.size(); ++i) {
    if (options_.relu) {
      kernels.mask_by_sign(
          {gradient + i * plane,
           dst.values.read(first + i * plane, plane, buffer + kChannelsPerTask * plane),
           plane});
    }
    if (biases() == 0) continue;
    bias_share[channels.begin + i] = kernels.sum(gradient + i * plane, plane);
  }
  if (options_.relu) dst.gradient.store(first, size, gradient);
  return gradient;
}

/// From these channels' gradients of the pool's results to those before the pool.
void ConvolutionStage::undo_pool(const Pass& pass, std::size_t pack, Range channels,
                                 const float* dst_gradient, float* gradient) const {
  const PoolKernels& kernels = pool_kernels(pass.kernels);
  const std::size_t row_floats = static_cast<std::size_t>(convolved_.width) * kPack;
  const std::size_t plane = row_floats * convolved_.height;
  const std::size_t dst_row = static_cast<std::size_t>(dst_.width) * kPack;
  const auto* argmax = pass.arena.get<std::uint8_t>(argmax_);
  const bool covered = dst_.height * options_.pool == convolved_.height &&
                       dst_.width * options_.pool == convolved_.width;
  if (!covered) std::fill_n(gradient, channels.size() * plane, 0.0f);
  for (std::size_t k = channels.begin; k < channels.end; ++k) {
    for (int row = 0; row < dst_.height; ++row) {
      const std::size_t from =
          pack * pack_floats(dst_) + (k * dst_.height + row) * dst_row;
      kernels.unpool_row(
          {.dst_gradient =
               dst_gradient + (k - channels.begin) * dst_plane() + row * dst_row,
           .argmax = argmax + from,
           .window = options_.pool,
           .stride = options_.pool,
           .columns = dst_.width,
           .accumulate = false,
           .src_gradient =
               gradient + (k - channels.begin) * plane + row * options_.pool * row_floats,
           .src_row = row_floats});
    }
  }
}

/// One pack of a group's source with its padding, in the thread's scratch memory if there
/// is padding; else in place, or in the buffer.
const float* ConvolutionStage::padded(const Pass& pass, const Stored& src,
                                      std::size_t from, int thread, float* buffer) const {
  if (!is_padded()) return src.read(from, pack_floats(group_.src), buffer);
  float* copy = pass.arena.get(padded_scratch_) + thread * pack_floats(group_.framed);
  const std::size_t row_floats = static_cast<std::size_t>(src_.width) * kPack;
  const std::size_t framed_row = static_cast<std::size_t>(group_.framed.width) * kPack;
  const std::size_t before = static_cast<std::size_t>(axes_.columns.padding) * kPack;
  float* to = copy;
  for (int c = 0; c < group_.src.channels; ++c) {
    for (int i = 0; i < group_.framed.height; ++i) {
      const int y = i - axes_.rows.padding;
      if (y < 0 || y >= src_.height) {
        to = std::fill_n(to, framed_row, 0.0f);
        continue;
      }
      to = std::fill_n(to, before, 0.0f);
      src.copy_to(from, row_floats, to);
      to = std::fill_n(to + row_floats, framed_row - before - row_floats, 0.0f);
      from += row_floats;
    }
  }
  return copy;
}

void ConvolutionStage::weights_backward(const Pass& pass, const Activation& src,
                                        const Activation& dst, const Stored& gradient) {
  const Tiles tiles(group_.outputs, kChannelsPerTask);
  const std::size_t tasks = static_cast<std::size_t>(options_.layer.groups) * tiles.count;
  const std::size_t share = weights_ + biases();
  float* shares = pass.arena.get(shares_);

  pass.team.run(pass.packs(src_) * tasks, [&](std::size_t task, int thread) {
    const std::size_t pack = task / tasks;
    const int group = static_cast<int>(task % tasks) / tiles.count;
    const int tile = static_cast<int>(task % tasks) % tiles.count;
    const std::size_t first = output_number(group, tiles.begin(tile));
    const Range channels = {first, first + tiles.size(tile)};
    float* buffer = pass.fp32_buffer(thread);
    float* after_buffer = buffer + (kChannelsPerTask + 1) * dst_plane();
    float* convolved = finish_gradient(pass, pack, channels, dst,
                                       shares + pack * share + weights_, buffer);
    if (options_.pool > 0) {
      const std::size_t from = pack * pack_floats(convolved_) + first * convolved_plane();
      const float* pooled = convolved;
      convolved = gradient.target(from, after_buffer);
      undo_pool(pass, pack, channels, pooled, convolved);
      gradient.store(from, channels.size() * convolved_plane(), convolved);
      after_buffer += kChannelsPerTask * convolved_plane();
    }
    if (pass.parameters[kTaps].gradient == nullptr) return;
    const std::size_t images = pack * pack_floats(src_) + group * pack_floats(group_.src);
    convolution_kernels(pass.kernels)
        .weights({.src = padded(pass, src.values, images, thread, after_buffer),
                  .src_channels = group_.src.channels,
                  .src_height = group_.framed.height,
                  .src_width = group_.framed.width,
                  .taps_high = axes_.rows.taps,
                  .taps_wide = axes_.columns.taps,
                  .stride_high = axes_.rows.stride,
                  .stride_wide = axes_.columns.stride,
                  .dst_gradient = convolved,
                  .dst_channels = static_cast<int>(channels.size()),
                  .dst_height = convolved_.height,
                  .dst_width = convolved_.width,
                  .gradient = shares + pack * share + first * taps_,
                  .dilation_high = axes_.rows.dilation,
                  .dilation_wide = axes_.columns.dilation});
  });
}

ConvolutionStage::Phase ConvolutionStage::phase(int number) const {
  const int a = number / axes_.columns.stride, b = number % axes_.columns.stride;
  return {a, axes_.columns.first_pixel(b), axes_.rows.phase(a), axes_.columns.phase(b)};
}

void ConvolutionStage::copy_phase_tile(const Phase& phase, Range channels,
                                       const float* weights, float* tiled) const {
  const std::size_t plane = options_.layer.kernel.pixels();
  const AxisPhase& rows = phase.rows;
  const AxisPhase& columns = phase.columns;
  for (int k = 0; k < group_.outputs; ++k) {
    for (int i = rows.count - 1; i >= 0; --i) {
      for (int j = columns.count - 1; j >= 0; --j) {
        const int r = rows.first + i * rows.step, s = columns.first + j * columns.step;
        const float* tap = weights + k * taps_ + r * axes_.columns.taps + s;
        for (std::size_t c = channels.begin; c < channels.end; ++c) {
          *tiled++ = tap[c * plane];
        }
      }
    }
  }
}

/// Laid out as [group][phase][tile of source channels].
void ConvolutionStage::tile_weights_for_source(const Pass& pass) {
  const Tiles tiles(group_.src.channels, product_kernels(pass.kernels).tile);
  const std::size_t group_floats = static_cast<std::size_t>(group_.outputs) * taps_;
  const int tasks = options_.layer.groups * tiles.count;
  std::size_t phase_begin = 0;
  for (int number = 0; number < phases(); ++number) {
    const Phase phase = this->phase(number);
    const std::size_t depth = phase.taps() * static_cast<std::size_t>(group_.outputs);
    pass.team.run(static_cast<std::size_t>(tasks), [&](std::size_t task, int) {
      const int group = static_cast<int>(task) / tiles.count;
      const Range channels = tiles.range(static_cast<int>(task) % tiles.count);
      copy_phase_tile(phase, channels,
                      pass.parameters[kTaps].values + group * group_floats,
                      pass.arena.get(source_weights_) + group * group_floats +
                          phase_begin + channels.begin * depth);
    });
    phase_begin += depth * static_cast<std::size_t>(group_.src.channels);
  }
}

void ConvolutionStage::source_row_backward(const Pass& pass, const Phase& phase,
                                           const float* weights, int y,
                                           const Band& gradient, float* src_row,
                                           std::size_t src_channel) const {
  const int first_x = phase.first_x;
  if (first_x >= src_.width) return;
  convolution_kernels(pass.kernels)
      .row({.src = gradient.first,
            .src_channels = group_.outputs,
            .src_height = gradient.rows,
            .src_width = convolved_.width,
            .taps_high = phase.rows.count,
            .taps_wide = phase.columns.count,
            .weights = weights,
            .bias = nullptr,
            .clamp_min = kNoClamp,
            .top = axes_.rows.first_output(phase.rows, y) - gradient.top,
            .left = axes_.columns.first_output(phase.columns, first_x),
            .stride = 1,
            .dst = src_row + static_cast<std::size_t>(first_x) * kPack,
            .dst_channels = group_.src.channels,
            .columns =
                (src_.width - first_x + axes_.columns.stride - 1) / axes_.columns.stride,
            .dst_channel = src_channel,
            .dst_column = static_cast<std::size_t>(axes_.columns.stride) * kPack,
            .dilation_high = phase.rows.dilation,
            .dilation_wide = phase.columns.dilation});
}

void ConvolutionStage::source_backward(const Pass& pass, const Stored& gradient,
                                       const Stored& src_gradient) {
  tile_weights_for_source(pass);
  const auto height = static_cast<std::size_t>(src_.height);
  const auto groups = static_cast<std::size_t>(options_.layer.groups);
  const std::size_t pairs =
      static_cast<std::size_t>(group_.src.channels) * group_.outputs;
  const std::size_t row_floats = static_cast<std::size_t>(src_.width) * kPack;
  const std::size_t plane = height * row_floats;
  const std::size_t step = src_gradient.is_fp32() ? plane : row_floats;

  pass.team.run(pass.packs(src_) * groups * height, [&](std::size_t task, int thread) {
    const std::size_t pack = task / height / groups;
    const auto group = static_cast<int>(task / height % groups);
    const int y = static_cast<int>(task % height);
    float* buffer = pass.fp32_buffer(thread);
    const Band band = gradient_band(gradient, pack, group, y, buffer);
    const std::size_t to =
        pack * pack_floats(src_) + group * pack_floats(group_.src) + y * row_floats;
    float* row = src_gradient.target(
        to, buffer + backward_buffer() - row_floats * group_.src.channels);
    const float* weights =
        pass.arena.get(source_weights_) + output_number(group, 0) * taps_;
    for (int number = 0; number < phases(); ++number) {
      const Phase phase = this->phase(number);
      if (axes_.rows.phase_number(y) == phase.a) {
        source_row_backward(pass, phase, weights, y, band, row, step);
      }
      weights += pairs * phase.taps();
    }
    for (int c = 0; c < group_.src.channels; ++c) {
      src_gradient.store(to + c * plane, row_floats, row + c * step);
    }
  });
}

/// What of the output's gradient reaches row y of the source.
Band ConvolutionStage::gradient_band(const Stored& gradient, std::size_t pack, int group,
                                     int y, float* buffer) const {
  const AxisPhase rows = axes_.rows.phase(axes_.rows.phase_number(y));
  const int top = axes_.rows.first_output(rows, y);
  return read_band(
      gradient,
      pack * pack_floats(convolved_) + output_number(group, 0) * convolved_plane(),
      {group_.outputs, convolved_.height, convolved_.width}, top,
      top + (rows.count - 1) * rows.dilation + 1, buffer);
}

}  // namespace convoy
