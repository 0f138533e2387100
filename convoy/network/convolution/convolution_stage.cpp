// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/convolution/convolution_stage.h"

#include <algorithm>

#include "convoy/network/kernels/convolution.h"
#include "convoy/network/kernels/pool.h"
#include "convoy/network/kernels/product.h"

namespace convoy {
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
  context.ask_for_buffer(forward_buffer());
  if (!context.training) return;

  context.ask_for_buffer(backward_buffer());
  const Lifetime later = {context.backward, context.backward};
  const std::size_t packs = context.most_packs(src_);
  convolved_gradient_ = plan.reserve(
      options.pool > 0 ? packs * pack_floats(convolved_) * bytes_of(context.activations)
                       : 0,
      later);
  padded_scratch_ = context.reserve_scratch(is_padded() ? pack_floats(group_.framed) : 0,
                                            context.backward);
  shares_ = plan.reserve(packs * (weights_ + biases()) * sizeof(float), later);
  source_weights_ = plan.reserve(weights_ * sizeof(float), later);
}

/// A band of the source, and a row of results.
std::size_t ConvolutionStage::forward_buffer() const {
  return band_floats(src_, (axes_.rows.taps - 1) * axes_.rows.dilation + 1) +
         pack_floats({convolved_.channels, 1, convolved_.width});
}

/// Either the gradients of some channels, before and after the pool, their values, and a
/// group's source; or a band of gradients, and a row of the source's.
std::size_t ConvolutionStage::backward_buffer() const {
  const std::size_t pooled = options_.pool > 0 ? kChannelsPerTask * convolved_plane() : 0;
  const std::size_t weights = (kChannelsPerTask + 1) * dst_plane() + pooled +
                              (is_padded() ? 0 : pack_floats(group_.src));
  const std::size_t source =
      band_floats({group_.outputs, convolved_.height, convolved_.width},
                  (axes_.rows.taps - 1) * axes_.rows.dilation + 1) +
      pack_floats({group_.src.channels, 1, src_.width});
  return std::max(weights, source);
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

void ConvolutionStage::convolve_into(const Pass& pass, const Stored& src,
                                     std::size_t pack, int row, float* buffer, float* dst,
                                     std::size_t dst_channel) const {
  const int top = row * axes_.rows.stride - axes_.rows.padding;
  const int bottom = top + (axes_.rows.taps - 1) * axes_.rows.dilation + 1;
  const Band band = read_band(src, pack * pack_floats(src_), src_, top, bottom, buffer);
  const std::size_t group_floats =
      pack_floats({group_.src.channels, band.rows, src_.width});
  const float* bias = biases() > 0 ? pass.parameters[kTapsBias].values : nullptr;
  for (int group = 0; group < options_.layer.groups; ++group) {
    const std::size_t first = output_number(group, 0);
    convolution_kernels(pass.kernels)
        .row({.src = band.first + group * group_floats,
              .src_channels = group_.src.channels,
              .src_height = band.rows,
              .src_width = src_.width,
              .taps_high = axes_.rows.taps,
              .taps_wide = axes_.columns.taps,
              .weights = pass.arena.get(tiled_weights_) + first * taps_,
              .bias = bias == nullptr ? nullptr : bias + first,
              .clamp_min = options_.relu && options_.pool == 0 ? 0 : kNoClamp,
              .top = top - band.top,
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

/// One row of results of all channels, without a pool.
void ConvolutionStage::convolve_row(const Pass& pass, const Stored& src, std::size_t pack,
                                    int row, float* buffer, const Stored& dst) const {
  const std::size_t row_floats = static_cast<std::size_t>(dst_.width) * kPack;
  const std::size_t first = pack * pack_floats(dst_) + row * row_floats;
  if (dst.is_fp32()) {
    convolve_into(pass, src, pack, row, buffer, dst + first, dst_plane());
    return;
  }
  float* results = buffer + forward_buffer() - row_floats * dst_.channels;
  convolve_into(pass, src, pack, row, buffer, results, row_floats);
  for (int k = 0; k < dst_.channels; ++k) {
    dst.store(first + k * dst_plane(), row_floats, results + k * row_floats);
  }
}

void ConvolutionStage::forward(const Pass& pass, Activations src,
                               const Activation& result) {
  const Stored& dst = result.values;
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
    const Stored& images = src[0].values;
    const std::size_t result = pack * pack_floats(dst_) + row * dst_row;
    float* buffer = pass.fp32_buffer(thread);
    if (options_.pool == 0) {
      convolve_row(pass, images, pack, row, buffer, dst);
      return;
    }
    float* rows = pass.arena.get(rows_scratch_) + thread * channel_floats * dst_.channels;
    for (int r = 0; r < options_.pool; ++r) {
      convolve_into(pass, images, pack, row * options_.pool + r, buffer,
                    rows + r * row_floats, channel_floats);
    }
    for (int k = 0; k < dst_.channels; ++k) {
      const std::size_t to = result + k * dst_row * height;
      float* pooled = dst.target(to, buffer);
      kernels.row({.src = rows + k * channel_floats,
                   .src_row = row_floats,
                   .window = options_.pool,
                   .stride = options_.pool,
                   .columns = dst_.width,
                   .clamp_min = options_.relu ? 0 : kNoClamp,
                   .dst = pooled,
                   .argmax = argmax + to});
      dst.store(to, dst_row, pooled);
    }
  });
}

}  // namespace convoy
