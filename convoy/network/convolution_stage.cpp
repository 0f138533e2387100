// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/convolution_stage.h"

#include <algorithm>

namespace convoy {
namespace {

// Channels whose gradients one task takes: the height of the weight kernel's tile.
constexpr int kChannelsPerTask = 4;

enum ConvolutionParameter : std::size_t { kTaps, kTapsBias };

int taps_of_phase(int kernel, int phase, int stride) {
  return phase >= kernel ? 0 : (kernel - phase + stride - 1) / stride;
}

}  // namespace

ConvolutionStage::ConvolutionStage(const StageContext& context,
                                   const ConvolutionOptions& options, Shape src)
    : options_(options),
      src_(src),
      convolved_(output_shape(options.layer, src)),
      dst_(convolved_) {
  const Convolution& layer = options.layer;
  if (options.pool > 0) dst_.height /= options.pool, dst_.width /= options.pool;
  const auto outputs = static_cast<std::size_t>(layer.channels);
  taps_ = static_cast<std::size_t>(src_.channels) * layer.kernel * layer.kernel;
  weights_ = outputs * taps_;
  biases_ = layer.bias ? outputs : 0;

  ArenaPlan& plan = context.plan;
  const Lifetime now = {context.forward, context.forward};
  tiled_weights_ = plan.reserve(weights_ * sizeof(float), now);
  const std::size_t row_floats =
      static_cast<std::size_t>(convolved_.channels) * convolved_.width * kPack;
  rows_scratch_ = context.reserve_scratch(row_floats * options.pool, context.forward);
  argmax_ = context.reserve_kept(
      options.pool > 0 ? context.most_packs(dst_) * pack_floats(dst_) : 0);
  if (!context.training) return;

  const Lifetime later = {context.backward, context.backward};
  const std::size_t packs = context.most_packs(src_);
  convolved_gradient_ = plan.reserve(
      options.pool > 0 ? packs * pack_floats(convolved_) * sizeof(float) : 0, later);
  const Shape framed = {src_.channels, src_.height + 2 * layer.padding,
                        src_.width + 2 * layer.padding};
  padded_scratch_ = context.reserve_scratch(layer.padding > 0 ? pack_floats(framed) : 0,
                                            context.backward);
  shares_ = plan.reserve(packs * (weights_ + biases_) * sizeof(float), later);
  source_weights_ = plan.reserve(weights_ * sizeof(float), later);
}

void ConvolutionStage::tile_weights(const Pass& pass) {
  const Tiles tiles(convolved_.channels, pass.kernels.tile);
  pass.team.run(static_cast<std::size_t>(tiles.count), [&](std::size_t task, int) {
    const int tile = static_cast<int>(task);
    const std::size_t first = static_cast<std::size_t>(tiles.begin(tile)) * taps_;
    pass.kernels.rows_to_tile({.src = pass.parameters[kTaps].values + first,
                               .src_row = taps_,
                               .rows = tiles.size(tile),
                               .depth = static_cast<int>(taps_),
                               .dst = pass.arena.get(tiled_weights_) + first});
  });
}

void ConvolutionStage::convolve_into(const Pass& pass, const float* src, int row,
                                     float* dst, std::size_t dst_channel) const {
  const Convolution& layer = options_.layer;
  pass.kernels.convolve_row(
      {.src = src,
       .src_channels = src_.channels,
       .src_height = src_.height,
       .src_width = src_.width,
       .taps_high = layer.kernel,
       .taps_wide = layer.kernel,
       .weights = pass.arena.get(tiled_weights_),
       .bias = biases_ > 0 ? pass.parameters[kTapsBias].values : nullptr,
       .clamp_min = options_.relu && options_.pool == 0 ? 0 : kNoClamp,
       .top = row * layer.stride - layer.padding,
       .left = -layer.padding,
       .stride = layer.stride,
       .dst = dst,
       .dst_channels = convolved_.channels,
       .columns = convolved_.width,
       .dst_channel = dst_channel,
       .dst_column = kPack});
}

void ConvolutionStage::forward(const Pass& pass, Activations src,
                               const Activation& result) {
  float* dst = result.values;
  tile_weights(pass);
  const auto height = static_cast<std::size_t>(dst_.height);
  const std::size_t dst_row = static_cast<std::size_t>(dst_.width) * kPack;
  const std::size_t row_floats = static_cast<std::size_t>(convolved_.width) * kPack;
  const std::size_t channel_floats = row_floats * options_.pool;
  auto* argmax = pass.arena.get<std::uint8_t>(argmax_);

  pass.team.run(pass.packs(src_) * height, [&](std::size_t task, int thread) {
    const std::size_t pack = task / height;
    const int row = static_cast<int>(task % height);
    const float* images = src[0].values + pack * pack_floats(src_);
    const std::size_t result = pack * pack_floats(dst_) + row * dst_row;
    if (options_.pool == 0) {
      convolve_into(pass, images, row, dst + result,
                    pack_floats({1, dst_.height, dst_.width}));
      return;
    }
    float* rows = pass.arena.get(rows_scratch_) + thread * channel_floats * dst_.channels;
    for (int r = 0; r < options_.pool; ++r) {
      convolve_into(pass, images, row * options_.pool + r, rows + r * row_floats,
                    channel_floats);
    }
    for (int k = 0; k < dst_.channels; ++k) {
      const std::size_t to = result + k * dst_row * height;
      pass.kernels.pool_row({.src = rows + k * channel_floats,
                             .src_row = row_floats,
                             .window = options_.pool,
                             .stride = options_.pool,
                             .columns = dst_.width,
                             .clamp_min = options_.relu ? 0 : kNoClamp,
                             .dst = dst + to,
                             .argmax = argmax + to});
    }
  });
}

void ConvolutionStage::backward(const Pass& pass, Activations src,
                                const Activation& dst) {
  // Without a pool the gradient of the convolution's output is dst's own, masked in
  // place.
  float* gradient =
      options_.pool > 0 ? pass.arena.get(convolved_gradient_) : dst.gradient;
  weights_backward(pass, src[0], dst, gradient);
  add_shares(pass, 0, {pass.parameters[kTaps].gradient, weights_});
  if (biases_ > 0) {
    add_shares(pass, weights_, {pass.parameters[kTapsBias].gradient, biases_});
  }
  if (src[0].gradient != nullptr) source_backward(pass, gradient, src[0].gradient);
}

/// Takes a few channels' gradient back through the ReLU and sums it for the bias. Before
/// the pool is undone there is less of it.
void ConvolutionStage::finish_gradient(const Pass& pass, std::size_t pack, Range channels,
                                       const Activation& dst, float* bias_share) const {
  const std::size_t plane = pack_floats({1, dst_.height, dst_.width});
  for (std::size_t k = channels.begin; k < channels.end; ++k) {
    const std::size_t from = pack * pack_floats(dst_) + k * plane;
    if (options_.relu) {
      pass.kernels.mask_by_sign(dst.gradient + from, dst.values + from, plane);
    }
    if (biases_ == 0) continue;
    bias_share[k] = pass.kernels.sum(dst.gradient + from, plane);
  }
}

void ConvolutionStage::undo_pool(const Pass& pass, std::size_t pack, Range channels,
                                 const float* dst_gradient, float* gradient) const {
  const std::size_t row_floats = static_cast<std::size_t>(convolved_.width) * kPack;
  const std::size_t plane = row_floats * convolved_.height;
  const std::size_t dst_row = static_cast<std::size_t>(dst_.width) * kPack;
  const auto* argmax = pass.arena.get<std::uint8_t>(argmax_);
  float* first = gradient + pack * pack_floats(convolved_) + channels.begin * plane;
  const bool covered = dst_.height * options_.pool == convolved_.height &&
                       dst_.width * options_.pool == convolved_.width;
  if (!covered) std::fill_n(first, channels.size() * plane, 0.0f);
  for (std::size_t k = channels.begin; k < channels.end; ++k) {
    for (int row = 0; row < dst_.height; ++row) {
      const std::size_t from =
          pack * pack_floats(dst_) + (k * dst_.height + row) * dst_row;
      pass.kernels.unpool_row({.dst_gradient = dst_gradient + from,
                               .argmax = argmax + from,
                               .window = options_.pool,
                               .stride = options_.pool,
                               .columns = dst_.width,
                               .accumulate = false,
                               .src_gradient = first + (k - channels.begin) * plane +
                                               row * options_.pool * row_floats,
                               .src_row = row_floats});
    }
  }
}

/// One pack of the source with its padding, in the thread's scratch memory if there is
/// padding.
const float* ConvolutionStage::padded(const Pass& pass, const float* src,
                                      int thread) const {
  const int padding = options_.layer.padding;
  if (padding == 0) return src;
  const Shape framed = {src_.channels, src_.height + 2 * padding,
                        src_.width + 2 * padding};
  float* copy = pass.arena.get(padded_scratch_) + thread * pack_floats(framed);
  const std::size_t row_floats = static_cast<std::size_t>(src_.width) * kPack;
  const std::size_t margin = static_cast<std::size_t>(padding) * kPack;
  float* to = copy;
  for (int c = 0; c < src_.channels; ++c) {
    for (int y = -padding; y < src_.height + padding; ++y) {
      if (y < 0 || y >= src_.height) {
        to = std::fill_n(to, row_floats + 2 * margin, 0.0f);
        continue;
      }
      to = std::fill_n(to, margin, 0.0f);
      to = std::copy_n(src, row_floats, to);
      to = std::fill_n(to, margin, 0.0f);
      src += row_floats;
    }
  }
  return copy;
}

void ConvolutionStage::weights_backward(const Pass& pass, const Activation& src,
                                        const Activation& dst, float* gradient) {
  const Tiles groups(convolved_.channels, kChannelsPerTask);
  const std::size_t plane = pack_floats({1, convolved_.height, convolved_.width});
  const std::size_t share = weights_ + biases_;
  float* shares = pass.arena.get(shares_);

  pass.team.run(pass.packs(src_) * groups.count, [&](std::size_t task, int thread) {
    const std::size_t pack = task / groups.count;
    const int group = static_cast<int>(task % groups.count);
    const auto first = static_cast<std::size_t>(groups.begin(group));
    const Range channels = {first, first + groups.size(group)};
    const std::size_t from = pack * pack_floats(convolved_) + first * plane;
    finish_gradient(pass, pack, channels, dst, shares + pack * share + weights_);
    if (options_.pool > 0) undo_pool(pass, pack, channels, dst.gradient, gradient);
    if (pass.parameters[kTaps].gradient == nullptr) return;
    const int padding = options_.layer.padding;
    pass.kernels.convolution_weights(
        {.src = padded(pass, src.values + pack * pack_floats(src_), thread),
         .src_channels = src_.channels,
         .src_height = src_.height + 2 * padding,
         .src_width = src_.width + 2 * padding,
         .taps_high = options_.layer.kernel,
         .taps_wide = options_.layer.kernel,
         .stride = options_.layer.stride,
         .dst_gradient = gradient + from,
         .dst_channels = static_cast<int>(channels.size()),
         .dst_height = convolved_.height,
         .dst_width = convolved_.width,
         .gradient = shares + pack * share + first * taps_});
  });
}

/// Adds the packs' shares, from number `first` on, in the order of packs, so that the sum
/// depends on the batch alone.
void ConvolutionStage::add_shares(const Pass& pass, std::size_t first,
                                  std::span<float> gradient) {
  if (gradient.data() == nullptr) return;
  constexpr std::size_t kChunk = 2048;
  const std::size_t share = weights_ + biases_, packs = pass.packs(src_);
  const float* shares = pass.arena.get(shares_) + first;
  pass.team.run((gradient.size() + kChunk - 1) / kChunk, [&](std::size_t chunk, int) {
    const std::size_t end = std::min(gradient.size(), (chunk + 1) * kChunk);
    for (std::size_t i = chunk * kChunk; i < end; ++i) {
      float sum = 0;
      for (std::size_t pack = 0; pack < packs; ++pack) sum += shares[pack * share + i];
      gradient[i] = sum;
    }
  });
}

// The gradient of the source at (y, x) sums the taps (r, s) that reach it: those for
// which y + padding - r is a multiple of the stride, which depends on (y + padding)
// modulo the stride alone, and likewise for x and s. So each of the stride x stride
// phases of the source is a convolution of its own over the output's gradient, with a
// subset of the taps, reversed.
ConvolutionStage::Phase ConvolutionStage::phase(int a, int b) const {
  const int kernel = options_.layer.kernel, stride = options_.layer.stride;
  return {a, b, taps_of_phase(kernel, a, stride), taps_of_phase(kernel, b, stride)};
}

void ConvolutionStage::copy_phase_tile(const Phase& phase, Range channels,
                                       const float* weights, float* tiled) const {
  const auto kernel = static_cast<std::size_t>(options_.layer.kernel);
  const int stride = options_.layer.stride;
  for (int k = 0; k < convolved_.channels; ++k) {
    for (int i = phase.high - 1; i >= 0; --i) {
      for (int j = phase.wide - 1; j >= 0; --j) {
        const float* tap =
            weights + k * taps_ + (phase.a + i * stride) * kernel + phase.b + j * stride;
        for (std::size_t c = channels.begin; c < channels.end; ++c) {
          *tiled++ = tap[c * kernel * kernel];
        }
      }
    }
  }
}

void ConvolutionStage::tile_weights_for_source(const Pass& pass) {
  const int stride = options_.layer.stride;
  const Tiles tiles(src_.channels, pass.kernels.tile);
  const float* weights = pass.parameters[kTaps].values;
  float* tiled = pass.arena.get(source_weights_);
  for (int number = 0; number < stride * stride; ++number) {
    const Phase phase = this->phase(number / stride, number % stride);
    const std::size_t depth =
        phase.taps() * static_cast<std::size_t>(convolved_.channels);
    pass.team.run(static_cast<std::size_t>(tiles.count), [&](std::size_t tile, int) {
      const auto first = static_cast<std::size_t>(tiles.begin(static_cast<int>(tile)));
      const auto size = static_cast<std::size_t>(tiles.size(static_cast<int>(tile)));
      copy_phase_tile(phase, {first, first + size}, weights, tiled + first * depth);
    });
    tiled += depth * static_cast<std::size_t>(src_.channels);
  }
}

void ConvolutionStage::source_row_backward(const Pass& pass, const Phase& phase,
                                           const float* weights, int y,
                                           const float* gradient,
                                           float* src_gradient) const {
  const int stride = options_.layer.stride, padding = options_.layer.padding;
  const int first_x = ((phase.b - padding) % stride + stride) % stride;
  if (first_x >= src_.width) return;
  pass.kernels.convolve_row(
      {.src = gradient,
       .src_channels = convolved_.channels,
       .src_height = convolved_.height,
       .src_width = convolved_.width,
       .taps_high = phase.high,
       .taps_wide = phase.wide,
       .weights = weights,
       .bias = nullptr,
       .clamp_min = kNoClamp,
       .top = (y + padding - phase.a) / stride - (phase.high - 1),
       .left = (first_x + padding - phase.b) / stride - (phase.wide - 1),
       .stride = 1,
       .dst = src_gradient + (static_cast<std::size_t>(y) * src_.width + first_x) * kPack,
       .dst_channels = src_.channels,
       .columns = (src_.width - first_x + stride - 1) / stride,
       .dst_channel = pack_floats({1, src_.height, src_.width}),
       .dst_column = static_cast<std::size_t>(stride) * kPack});
}

void ConvolutionStage::source_backward(const Pass& pass, const float* gradient,
                                       float* src_gradient) {
  tile_weights_for_source(pass);
  const int stride = options_.layer.stride;
  const auto height = static_cast<std::size_t>(src_.height);
  const std::size_t pairs = static_cast<std::size_t>(src_.channels) * convolved_.channels;

  pass.team.run(pass.packs(src_) * height, [&](std::size_t task, int) {
    const std::size_t pack = task / height;
    const int y = static_cast<int>(task % height);
    const float* weights = pass.arena.get(source_weights_);
    for (int number = 0; number < stride * stride; ++number) {
      const Phase phase = this->phase(number / stride, number % stride);
      if ((y + options_.layer.padding) % stride == phase.a) {
        source_row_backward(pass, phase, weights, y,
                            gradient + pack * pack_floats(convolved_),
                            src_gradient + pack * pack_floats(src_));
      }
      weights += pairs * phase.taps();
    }
  });
}

}  // namespace convoy
