// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/winograd_stage.h"

#include <algorithm>

#include "convoy/network/kernels/product.h"
#include "convoy/network/kernels/winograd.h"
#include "convoy/network/winograd_sizes.h"

namespace convoy {
namespace {

std::size_t padded(int channels) {
  return round_up(static_cast<std::size_t>(channels), kPack);
}

/// A quarter of the channels where activations are of 16 bits: the panels of all would be
/// a large part of what such a network needs.
int turned_at_a_time(int channels, Dtype activations) {
  if (activations == Dtype::fp32) return channels;
  const auto quarter = static_cast<std::size_t>((channels + 3) / 4);
  return static_cast<int>(round_up(quarter, kTapsWide));
}

}  // namespace

WinogradStage::WinogradStage(const StageContext& context, const WinogradOptions& options,
                             Shape src)
    : plan_(options.form, src, output_shape(options.layer, src),
            options.layer.padding.top),
      src_(src),
      dst_(output_shape(options.layer, src)),
      relu_(options.relu),
      has_bias_(options.layer.bias),
      block_(plan_.tiles() * context.most_packs(src) > kFewColumns ? kColumnsABlock
                                                                   : kFewColumns),
      turned_(turned_at_a_time(src.channels, context.activations)) {
  taps_.kept = 2 * static_cast<std::size_t>(plan_.products()) <= plan_.taps();
  taps_.at_once = taps_.kept || plan_.tiles() * context.most_packs(src_) > kFewColumns;
  const auto products = static_cast<std::size_t>(plan_.products());
  const std::size_t all_taps =
      taps_.at_once ? products * taps_product() * sizeof(float) : 0;
  taps_.scratch =
      taps_.at_once
          ? 0
          : products * (std::max(kGroup * kTapsRow, kSlab * kTurnedTapsRow) + 3 * kPad);
  forward_.scratch_floats =
      taps_.scratch + products * (block_ * kGroup * kPack + 3 * kPad);
  sources_ = plan_panels(context, src_.channels, context.forward);
  const bool kept = taps_.kept && context.training;
  forward_.taps = context.plan.reserve(
      all_taps, {context.forward, kept ? context.backward : context.forward});
  forward_.scratch = context.reserve_scratch(forward_.scratch_floats, context.forward);
  context.ask_for_buffer(forward_buffer());
  if (!context.training) return;
  context.ask_for_buffer(backward_buffer(context));

  const Lifetime later = {context.backward, context.backward};
  const std::size_t turned = static_cast<std::size_t>(plan_.most_src_rows()) * src_.width;
  backward_.scratch_floats = std::max({forward_.scratch_floats, turned * kPack * kPack,
                                       products * (kTapsHigh * kTapsWide + kPad)});
  turned_sources_ =
      plan_panels(context, std::min(turned_, src_.channels), context.backward);
  gradients_ = plan_panels(context, dst_.channels, context.backward);
  backward_.taps = kept ? forward_.taps : context.plan.reserve(all_taps, later);
  backward_.scratch = context.reserve_scratch(backward_.scratch_floats, context.backward);
  bias_shares_ = context.plan.reserve(
      context.most_packs(src_) * static_cast<std::size_t>(dst_.channels) * sizeof(float),
      later);
}

/// The rows of sixteen channels that a chunk sees, or a tile of a group of channels.
std::size_t WinogradStage::forward_buffer() const {
  const auto side = static_cast<std::size_t>(plan_.dst_tile());
  return std::max(pack_floats({kPack, plan_.most_src_rows(), src_.width}),
                  side * side * kGroup * kPack);
}

/// The same, of gradients as well; or a group of channels of a part's packs.
std::size_t WinogradStage::backward_buffer(const StageContext& context) const {
  const Chunk chunk = plan_.chunk(0, context.most_packs(src_));
  return std::max({forward_buffer(),
                   pack_floats({kPack, plan_.most_dst_rows(), dst_.width}),
                   std::min(chunk.packs, packs_a_part(chunk)) *
                       pack_floats({kGroup, plan_.most_src_rows(), src_.width})});
}

WinogradStage::Panels WinogradStage::plan_panels(const StageContext& context,
                                                 int channels, int moment) const {
  // One more than a multiple of four columns: neighbouring blocks then fall on different
  // cache lines.
  const std::size_t columns =
      round_up(plan_.most_columns(context.most_packs(src_)) + 3, 4) - 3;
  Panels panels;
  panels.block = columns * kPack * kPack;
  panels.product = padded(channels) / kPack * panels.block + 5 * kPad;
  const std::size_t floats = panels.product * static_cast<std::size_t>(plan_.products());
  panels.slot = context.plan.reserve(floats * sizeof(float), {moment, moment});
  return panels;
}

/// From one product of all channels' taps to the next.
std::size_t WinogradStage::taps_product() const {
  return static_cast<std::size_t>(dst_.channels) * (padded(src_.channels) + kPad) +
         3 * kPad;
}

/// Parts are whole packs, so that no two tasks add to one pixel of a gradient.
std::size_t WinogradStage::packs_a_part(const Chunk& chunk) const {
  return std::max<std::size_t>(1, block_ / plan_.columns_a_pack(chunk));
}

std::size_t WinogradStage::column_parts(const Chunk& chunk) const {
  return (chunk.packs + packs_a_part(chunk) - 1) / packs_a_part(chunk);
}

Range WinogradStage::column_part(const Chunk& chunk, std::size_t number) const {
  const std::size_t columns = packs_a_part(chunk) * plan_.columns_a_pack(chunk);
  return {number * columns, std::min(plan_.columns(chunk), (number + 1) * columns)};
}

/// Groups of channels: large ones, if there are tasks enough for all threads.
Tiles WinogradStage::channel_groups(int channels, std::size_t parts, int threads) const {
  int size = kGroup;
  const auto tasks = [&] {
    return Tiles(channels, size).count * static_cast<int>(parts);
  };
  while (size > kGroup / 4 && tasks() < 2 * threads) size /= 2;
  return {channels, size};
}

void WinogradStage::transform_all_taps(const Pass& pass, SlotId to) const {
  const WinogradKernels& kernels = winograd_kernels(pass.kernels);
  const Tiles groups(dst_.channels, kGroup);
  pass.team.run(static_cast<std::size_t>(groups.count), [&](std::size_t task, int) {
    const Range rows = groups.range(static_cast<int>(task));
    const std::size_t row = padded(src_.channels) + kPad;
    kernels.taps_to_products({.form = plan_.form(),
                              .taps = pass.parameters[kWinogradTaps].values +
                                      rows.begin * src_.channels * plan_.taps(),
                              .taps_row = src_.channels * plan_.taps(),
                              .rows = static_cast<int>(rows.size()),
                              .channels = src_.channels,
                              .products = pass.arena.get(to) + rows.begin * row,
                              .product = taps_product(),
                              .products_row = row});
  });
}

/// The transformed taps from source `channels` to output channels `rows`: among all of
/// them, or made here and now in the scratch.
WinogradStage::Taps WinogradStage::taps_of(const Pass& pass, SlotId all, Range rows,
                                           Range channels, float* scratch,
                                           std::size_t scratch_row) const {
  if (taps_.at_once) {
    const std::size_t row = padded(src_.channels) + kPad;
    return {pass.arena.get(all) + rows.begin * row + channels.begin, row, taps_product()};
  }
  const std::size_t product = rows.size() * scratch_row + 3 * kPad;
  const auto sources = static_cast<std::size_t>(src_.channels);
  winograd_kernels(pass.kernels)
      .taps_to_products({.form = plan_.form(),
                         .taps = pass.parameters[kWinogradTaps].values +
                                 (rows.begin * sources + channels.begin) * plan_.taps(),
                         .taps_row = sources * plan_.taps(),
                         .rows = static_cast<int>(rows.size()),
                         .channels = static_cast<int>(channels.size()),
                         .products = scratch,
                         .product = product,
                         .products_row = scratch_row});
  return {scratch, scratch_row, product};
}

void WinogradStage::forward(const Pass& pass, Activations src, const Activation& dst) {
  if (taps_.at_once) transform_all_taps(pass, forward_.taps);
  for (std::size_t i = 0; i < plan_.chunks(pass.packs(src_)); ++i) {
    const Chunk chunk = plan_.chunk(i, pass.packs(src_));
    const std::size_t blocks = block_count(src_.channels);
    pass.team.run(chunk.packs * blocks, [&](std::size_t task, int thread) {
      transform_sources(pass, chunk, src[0].values, task / blocks,
                        block_of(src_.channels, task % blocks), pass.fp32_buffer(thread));
    });
    const std::size_t parts = column_parts(chunk);
    const Tiles groups = channel_groups(dst_.channels, parts, pass.team.threads());
    pass.team.run(groups.count * parts, [&](std::size_t task, int thread) {
      const Range group = groups.range(static_cast<int>(task / parts));
      const Range columns = column_part(chunk, task % parts);
      float* scratch =
          pass.arena.get(forward_.scratch) + thread * forward_.scratch_floats;
      float* products = scratch + taps_.scratch;
      for (std::size_t c = columns.begin; c < columns.end; c += block_) {
        const Part part = {group, {c, std::min(columns.end, c + block_)}};
        multiply_forward(pass, part, scratch, products);
        write_outputs(pass, chunk, part, products, dst.values, pass.fp32_buffer(thread));
      }
    });
  }
}

/// The rows of a pack of the chunk that its tiles see, of some channels.
Band WinogradStage::source_band(const Chunk& chunk, const Stored& src, std::size_t pack,
                                Range channels, float* buffer) const {
  const std::size_t plane = src_.pixels() * kPack;
  return read_band(src,
                   (chunk.first_pack + pack) * pack_floats(src_) + channels.begin * plane,
                   {static_cast<int>(channels.size()), src_.height, src_.width},
                   plan_.first_src_row(chunk), plan_.last_src_row(chunk), buffer);
}

/// Tiles of a pack of the chunk, of some channels, to products.
void WinogradStage::transform_sources(const Pass& pass, const Chunk& chunk,
                                      const Stored& src, std::size_t pack, Range channels,
                                      float* buffer) const {
  const WinogradKernels& kernels = winograd_kernels(pass.kernels);
  const std::size_t row = static_cast<std::size_t>(src_.width) * kPack;
  const Band band = source_band(chunk, src, pack, channels, buffer);
  const std::ptrdiff_t above = static_cast<std::ptrdiff_t>(band.top) * src_.width;
  float* panels = pass.arena.get(sources_.slot);
  const std::size_t first = pack * plan_.columns_a_pack(chunk);
  for (std::size_t c = first; c < first + plan_.columns_a_pack(chunk); ++c) {
    const TilePlace place = plan_.place(chunk, c);
    kernels.source_to_products(
        {.form = plan_.form(),
         .image = band.first + (plan_.src_offset(place) - above) * kPack,
         .image_pixel = kPack,
         .image_row = row,
         .image_channel = row * band.rows,
         .inside = plan_.src_window(place),
         .channels = static_cast<int>(channels.size()),
         .products = panels + sources_.at(0, channels.begin, c),
         .product = sources_.product});
  }
}

const ProductKernels& WinogradStage::product_table(const Pass& pass) const {
  return size_of(plan_.form()).taps == 1 ? product_kernels(pass.kernels)
                                         : fp32_product_kernels(pass.kernels);
}

/// Completes a product with its right operand: some channels of column `i` of several.
void WinogradStage::multiply(const Pass& pass, Product product, const Panels& panels,
                             int t, Range columns, std::size_t i, Range channels) const {
  const ProductKernels& kernels = product_table(pass);
  const float* right = pass.arena.get(panels.slot);
  const std::size_t column = columns.begin + i;
  const bool last = column + 1 == columns.end;
  product.b = right + panels.at(t, channels.begin, column);
  product.next_b = right + panels.at(last ? t + 1 : t, channels.begin,
                                     last ? columns.begin : column + 1);
  product.depth = kPack;
  product.pieces = static_cast<int>(channels.size() / kPack);
  product.a_piece = kPack * product.a_stride;
  product.b_piece = panels.block;
  if (product.pieces > 0) kernels.product(product);
  const std::size_t rest = channels.size() % kPack;
  if (rest == 0) return;
  product.a += product.pieces * product.a_piece;
  product.b += product.pieces * product.b_piece;
  product.accumulate |= product.pieces > 0;
  product.depth = static_cast<int>(rest);
  product.pieces = 1;
  kernels.product(product);
}

/// products[product][column][channel] = taps x sources.
void WinogradStage::multiply_forward(const Pass& pass, const Part& part, float* scratch,
                                     float* products) const {
  const std::size_t depth = static_cast<std::size_t>(src_.channels);
  for (std::size_t c = 0; c < depth; c += kSlab) {
    const Range slab = {c, std::min(depth, c + kSlab)};
    const Taps taps =
        taps_of(pass, forward_.taps, part.channels, slab, scratch, kTapsRow);
    for (int t = 0; t < plan_.products(); ++t) {
      for (std::size_t i = 0; i < part.columns.size(); ++i) {
        const Product product = {.a = taps.first + t * taps.product,
                                 .a_row = taps.row,
                                 .b = nullptr,
                                 .dst = products + t * part.product() + i * part.column(),
                                 .dst_row = kPack,
                                 .rows = static_cast<int>(part.channels.size()),
                                 .depth = 0,
                                 .accumulate = c > 0};
        multiply(pass, product, sources_, t, part.columns, i, slab);
      }
    }
  }
}

void WinogradStage::write_outputs(const Pass& pass, const Chunk& chunk, const Part& part,
                                  const float* products, const Stored& dst,
                                  float* buffer) const {
  const WinogradKernels& kernels = winograd_kernels(pass.kernels);
  const bool direct = dst.is_fp32();
  const int width = direct ? dst_.width : plan_.dst_tile();
  const std::size_t row = static_cast<std::size_t>(width) * kPack;
  const std::size_t plane = row * (direct ? dst_.height : plan_.dst_tile());
  const float* bias =
      has_bias_ ? pass.parameters[kWinogradBias].values + part.channels.begin : nullptr;
  for (std::size_t i = 0; i < part.columns.size(); ++i) {
    const TilePlace place = plan_.place(chunk, part.columns.begin + i);
    kernels.output_from_products({.form = plan_.form(),
                                  .products = products + i * part.column(),
                                  .product = part.product(),
                                  .channels = static_cast<int>(part.channels.size()),
                                  .bias = bias,
                                  .clamp_min = relu_ ? 0 : kNoClamp,
                                  .image = direct ? dst + place.pack * pack_floats(dst_) +
                                                        part.channels.begin * plane +
                                                        plan_.dst_offset(place) * kPack
                                                  : buffer,
                                  .image_row = row,
                                  .image_channel = plane,
                                  .inside = plan_.dst_window(place)});
    if (!direct) store_tile(place, part.channels, buffer, dst);
  }
}

/// Stores a tile of some channels, [channel][row][column][16], as far as it is inside.
void WinogradStage::store_tile(const TilePlace& place, Range channels, const float* tile,
                               const Stored& dst) const {
  const std::size_t row = static_cast<std::size_t>(dst_.width) * kPack;
  const std::size_t tile_row = static_cast<std::size_t>(plan_.dst_tile()) * kPack;
  const TileWindow inside = plan_.dst_window(place);
  const std::size_t first =
      place.pack * pack_floats(dst_) + plan_.dst_offset(place) * kPack;
  for (std::size_t k = channels.begin; k < channels.end; ++k) {
    for (int y = 0; y < plan_.dst_tile(); ++y, tile += tile_row) {
      if (y >= inside.bottom) continue;
      dst.store(first + (k * dst_.height + y) * row,
                static_cast<std::size_t>(inside.right) * kPack, tile);
    }
  }
}

}  // namespace convoy
