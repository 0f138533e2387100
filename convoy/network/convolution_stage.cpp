// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/convolution_stage.h"

#include <algorithm>

#include "convoy/network/kernels/convolution.h"
#include "convoy/network/kernels/point/epilogue.h"
#include "convoy/network/kernels/pool.h"
#include "convoy/network/kernels/product.h"
#include "convoy/network/weight_shares.h"

namespace convoy {
namespace {

// Channels whose gradients one task takes: the height of the weight kernel's tile.
constexpr int kChannelsPerTask = 4;

// The parameters of the stage.
constexpr std::size_t kTaps = 0, kTapsBias = 1;

}  // namespace

ConvolutionStage::Group ConvolutionStage::group_of(const Convolution& layer, Shape src) {
  const int channels = src.channels / layer.groups;
  const Extent framed = layer.window().framed(src);
  return {.src = {channels, src.height, src.width},
          .framed = {channels, framed.height, framed.width},
          .outputs = layer.channels / layer.groups};
}

ConvolutionStage::ConvolutionStage(const StageContext& context,
                                   const ConvolutionOptions& options, Shape src)
    : options_(options),
      src_(src),
      group_(group_of(options.layer, src)),
      convolved_(output_shape(options.layer, src)),
      dst_(convolved_),
      axes_{WindowAxis::rows_of(options.layer.window()),
            WindowAxis::columns_of(options.layer.window())} {
  const Convolution& layer = options.layer;
  if (options.pool > 0) dst_.height /= options.pool, dst_.width /= options.pool;
  const auto outputs = static_cast<std::size_t>(layer.channels);
  taps_ = static_cast<std::size_t>(group_.src.channels) * layer.kernel.pixels();
  weights_ = outputs * taps_;

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
  padded_scratch_ = context.reserve_scratch(is_padded() ? pack_floats(group_.framed) : 0,
                                            context.backward);
  shares_ = plan.reserve(packs * (weights_ + biases()) * sizeof(float), later);
  source_weights_ = plan.reserve(weights_ * sizeof(float), later);
}

void ConvolutionStage::tile_weights(const Pass& pass) {
  const ProductKernels& kernels = product_kernels(pass.kernels);
  const Tiles tiles(group_.outputs, kernels.tile);
  const int tasks = options_.layer.groups * tiles.count;
  pass.team.run(static_cast<std::size_t>(tasks), [&](std::size_t task, int) {
    const int group = static_cast<int>(task) / tiles.count;
    const int tile = static_cast<int>(task) % tiles.count;
    const std::size_t first = output_number(group, tiles.begin(tile)) * taps_;
    kernels.rows_to_tile({.src = pass.parameters[kTaps].values + first,
                          .src_row = taps_,
                          .rows = tiles.size(tile),
                          .depth = static_cast<int>(taps_),
                          .dst = pass.arena.get(tiled_weights_) + first});
  });
}

void ConvolutionStage::convolve_into(const Pass& pass, const float* src, int row,
                                     float* dst, std::size_t dst_channel) const {
  const float* bias = biases() > 0 ? pass.parameters[kTapsBias].values : nullptr;
  for (int group = 0; group < options_.layer.groups; ++group) {
    const std::size_t first = output_number(group, 0);
    convolution_kernels(pass.kernels)
        .row({.src = src + group * pack_floats(group_.src),
              .src_channels = group_.src.channels,
              .src_height = src_.height,
              .src_width = src_.width,
              .taps_high = axes_.rows.taps,
              .taps_wide = axes_.columns.taps,
              .weights = pass.arena.get(tiled_weights_) + first * taps_,
              .bias = bias == nullptr ? nullptr : bias + first,
              .clamp_min = options_.relu && options_.pool == 0 ? 0 : kNoClamp,
              .top = row * axes_.rows.stride - axes_.rows.padding,
              .left = -axes_.columns.padding,
              .stride = axes_.columns.stride,
              .dst = dst + first * dst_channel,
              .dst_channels = group_.outputs,
              .columns = convolved_.width,
              .dst_channel = dst_channel,
              .dst_column = kPack,
              .dilation_high = axes_.rows.dilation,
              .dilation_wide = axes_.columns.dilation});
  }
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
  const PoolKernels& kernels = pool_kernels(pass.kernels);

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
      kernels.row({.src = rows + k * channel_floats,
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
/// the pool is undone there is less of it.
void ConvolutionStage::finish_gradient(const Pass& pass, std::size_t pack, Range channels,
                                       const Activation& dst, float* bias_share) const {
  const EpilogueKernels& kernels = epilogue_kernels(pass.kernels);
  const std::size_t plane = pack_floats({1, dst_.height, dst_.width});
  for (std::size_t k = channels.begin; k < channels.end; ++k) {
    const std::size_t from = pack * pack_floats(dst_) + k * plane;
    if (options_.relu) {
      kernels.mask_by_sign({dst.gradient + from, dst.values + from, plane});
    }
    if (biases() == 0) continue;
    bias_share[k] = kernels.sum(dst.gradient + from, plane);
  }
}

void ConvolutionStage::undo_pool(const Pass& pass, std::size_t pack, Range channels,
                                 const float* dst_gradient, float* gradient) const {
  const PoolKernels& kernels = pool_kernels(pass.kernels);
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
      kernels.unpool_row({.dst_gradient = dst_gradient + from,
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

/// One pack of a group's source with its padding, in the thread's scratch memory if there
/// is padding.
const float* ConvolutionStage::padded(const Pass& pass, const float* src,
                                      int thread) const {
  if (!is_padded()) return src;
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
      to = std::copy_n(src, row_floats, to);
      to = std::fill_n(to, framed_row - before - row_floats, 0.0f);
      src += row_floats;
    }
  }
  return copy;
}

void ConvolutionStage::weights_backward(const Pass& pass, const Activation& src,
                                        const Activation& dst, float* gradient) {
  const Tiles tiles(group_.outputs, kChannelsPerTask);
  const std::size_t tasks = static_cast<std::size_t>(options_.layer.groups) * tiles.count;
  const std::size_t plane = pack_floats({1, convolved_.height, convolved_.width});
  const std::size_t share = weights_ + biases();
  float* shares = pass.arena.get(shares_);

  pass.team.run(pass.packs(src_) * tasks, [&](std::size_t task, int thread) {
    const std::size_t pack = task / tasks;
    const int group = static_cast<int>(task % tasks) / tiles.count;
    const int tile = static_cast<int>(task % tasks) % tiles.count;
    const std::size_t first = output_number(group, tiles.begin(tile));
    const Range channels = {first, first + tiles.size(tile)};
    const std::size_t from = pack * pack_floats(convolved_) + first * plane;
    finish_gradient(pass, pack, channels, dst, shares + pack * share + weights_);
    if (options_.pool > 0) undo_pool(pass, pack, channels, dst.gradient, gradient);
    if (pass.parameters[kTaps].gradient == nullptr) return;
    const float* images =
        src.values + pack * pack_floats(src_) + group * pack_floats(group_.src);
    convolution_kernels(pass.kernels)
        .weights({.src = padded(pass, images, thread),
                  .src_channels = group_.src.channels,
                  .src_height = group_.framed.height,
                  .src_width = group_.framed.width,
                  .taps_high = axes_.rows.taps,
                  .taps_wide = axes_.columns.taps,
                  .stride_high = axes_.rows.stride,
                  .stride_wide = axes_.columns.stride,
                  .dst_gradient = gradient + from,
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
                                           const float* gradient,
                                           float* src_gradient) const {
  const int first_x = phase.first_x;
  if (first_x >= src_.width) return;
  convolution_kernels(pass.kernels)
      .row({.src = gradient,
            .src_channels = group_.outputs,
            .src_height = convolved_.height,
            .src_width = convolved_.width,
            .taps_high = phase.rows.count,
            .taps_wide = phase.columns.count,
            .weights = weights,
            .bias = nullptr,
            .clamp_min = kNoClamp,
            .top = axes_.rows.first_output(phase.rows, y),
            .left = axes_.columns.first_output(phase.columns, first_x),
            .stride = 1,
            .dst = src_gradient +
                   (static_cast<std::size_t>(y) * src_.width + first_x) * kPack,
            .dst_channels = group_.src.channels,
            .columns =
                (src_.width - first_x + axes_.columns.stride - 1) / axes_.columns.stride,
            .dst_channel = pack_floats({1, src_.height, src_.width}),
            .dst_column = static_cast<std::size_t>(axes_.columns.stride) * kPack,
            .dilation_high = phase.rows.dilation,
            .dilation_wide = phase.columns.dilation});
}

void ConvolutionStage::source_backward(const Pass& pass, const float* gradient,
                                       float* src_gradient) {
  tile_weights_for_source(pass);
  const auto height = static_cast<std::size_t>(src_.height);
  const auto groups = static_cast<std::size_t>(options_.layer.groups);
  const std::size_t pairs =
      static_cast<std::size_t>(group_.src.channels) * group_.outputs;

  pass.team.run(pass.packs(src_) * groups * height, [&](std::size_t task, int) {
    const std::size_t pack = task / height / groups;
    const auto group = static_cast<int>(task / height % groups);
    const int y = static_cast<int>(task % height);
    const float* from = gradient + pack * pack_floats(convolved_) +
                        output_number(group, 0) * convolved_.pixels() * kPack;
    float* to = src_gradient + pack * pack_floats(src_) + group * pack_floats(group_.src);
    const float* weights =
        pass.arena.get(source_weights_) + output_number(group, 0) * taps_;
    for (int number = 0; number < phases(); ++number) {
      const Phase phase = this->phase(number);
      if (axes_.rows.phase_number(y) == phase.a) {
        source_row_backward(pass, phase, weights, y, from, to);
      }
      weights += pairs * phase.taps();
    }
  });
}

}  // namespace convoy
