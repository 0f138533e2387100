// SPDX-License-Identifier: Apache-2.0
//
// WinogradStage's backward pass.
//
// The gradient of the taps sums over columns and images, so images are the depth of its
// matrix product, and the right operand needs vectors of something else: of source
// channels. Sources are transposed, sixteen channels by sixteen images, before their
// transform, which works on either layout.

#include <algorithm>

#include "convoy/network/kernels/point/epilogue.h"
#include "convoy/network/kernels/product.h"
#include "convoy/network/kernels/winograd.h"
#include "convoy/network/winograd_sizes.h"
#include "convoy/network/winograd_stage.h"

namespace convoy {

void WinogradStage::backward(const Pass& pass, Activations src, const Activation& dst) {
  const bool transform = taps_.at_once && !taps_.kept;
  if (transform && src[0].gradient != nullptr) transform_all_taps(pass, backward_.taps);
  for (std::size_t i = 0; i < plan_.chunks(pass.packs(src_)); ++i) {
    const Chunk chunk = plan_.chunk(i, pass.packs(src_));
    for (std::size_t part = 0; part < block_count(src_.channels, turned_); ++part) {
      const Range turned = block_of(src_.channels, part, turned_);
      transform_for_backward(pass, chunk, turned, src[0], dst);
      gradients_from_products(pass, chunk, turned, /*accumulate=*/i > 0, src[0].gradient);
    }
  }
  if (has_bias_) add_bias_shares(pass);
}

/// Transforms some channels of the source and, with the first of them, all gradients.
void WinogradStage::transform_for_backward(const Pass& pass, const Chunk& chunk,
                                           Range turned, const Activation& src,
                                           const Activation& dst) const {
  const bool frozen = pass.parameters[kWinogradTaps].gradient == nullptr;
  const auto channels_here = static_cast<int>(turned.size());
  const std::size_t blocks = frozen ? 0 : block_count(channels_here);
  const std::size_t tasks = blocks + (turned.begin == 0 ? block_count(dst_.channels) : 0);
  pass.team.run(chunk.packs * tasks, [&](std::size_t task, int thread) {
    const std::size_t pack = task / tasks, block = task % tasks;
    float* buffer = pass.fp32_buffer(thread);
    if (block < blocks) {
      float* scratch =
          pass.arena.get(backward_.scratch) + thread * backward_.scratch_floats;
      const Range part = block_of(channels_here, block);
      const Range channels = {turned.begin + part.begin, turned.begin + part.end};
      float* panels =
          pass.arena.get(turned_sources_.slot) + turned_sources_.at(0, part.begin, 0);
      transform_turned_sources(pass, chunk,
                               source_band(chunk, src.values, pack, channels, buffer),
                               pack, channels, panels, scratch);
      return;
    }
    const Range channels = block_of(dst_.channels, block - blocks);
    if (chunk.first_row == 0) {
      finish_gradient(pass, chunk.first_pack + pack, channels, dst);
    }
    transform_gradients(pass, chunk, dst.gradient, pack, channels, buffer);
  });
}

/// Takes a few channels' gradient back through the ReLU and sums it for the bias.
void WinogradStage::finish_gradient(const Pass& pass, std::size_t pack, Range channels,
                                    const Activation& dst) const {
  if (!relu_ && !has_bias_) return;
  const std::size_t plane = pack_floats({1, dst_.height, dst_.width});
  const EpilogueKernels& kernels = epilogue_kernels(pass.kernels);
  float* shares = pass.arena.get(bias_shares_) + pack * dst_.channels;
  for (std::size_t k = channels.begin; k < channels.end; ++k) {
    shares[k] = 0;
    const auto finish = [&](std::size_t from, std::size_t size) {
      Piece a, b;
      float* gradient = dst.gradient.edit(from, size, a.numbers);
      if (relu_) {
        kernels.mask_by_sign({gradient, dst.values.read(from, size, b.numbers), size});
        dst.gradient.store(from, size, gradient);
      }
      if (has_bias_) shares[k] += kernels.sum(gradient, size);
    };
    for_pieces(pass.activations, pack * pack_floats(dst_) + k * plane, plane, finish);
  }
}

void WinogradStage::add_bias_shares(const Pass& pass) const {
  const float* shares = pass.arena.get(bias_shares_);
  float* gradient = pass.parameters[kWinogradBias].gradient;
  if (gradient == nullptr) return;
  for (int k = 0; k < dst_.channels; ++k) {
    float sum = 0;
    for (std::size_t pack = 0; pack < pass.packs(src_); ++pack) {
      sum += shares[pack * dst_.channels + k];
    }
    gradient[k] = sum;
  }
}

void WinogradStage::transform_gradients(const Pass& pass, const Chunk& chunk,
                                        const Stored& gradient, std::size_t pack,
                                        Range channels, float* buffer) const {
  const WinogradKernels& kernels = winograd_kernels(pass.kernels);
  const std::size_t row = static_cast<std::size_t>(dst_.width) * kPack;
  const Band band = read_band(
      gradient,
      (chunk.first_pack + pack) * pack_floats(dst_) + channels.begin * row * dst_.height,
      {static_cast<int>(channels.size()), dst_.height, dst_.width},
      plan_.first_dst_row(chunk), plan_.last_dst_row(chunk), buffer);
  const std::ptrdiff_t above = static_cast<std::ptrdiff_t>(band.top) * dst_.width;
  float* panels = pass.arena.get(gradients_.slot);
  const std::size_t first = pack * plan_.columns_a_pack(chunk);
  for (std::size_t c = first; c < first + plan_.columns_a_pack(chunk); ++c) {
    const TilePlace place = plan_.place(chunk, c);
    kernels.gradient_to_products(
        {.form = plan_.form(),
         .image = band.first + (plan_.dst_offset(place) - above) * kPack,
         .image_pixel = kPack,
         .image_row = row,
         .image_channel = row * band.rows,
         .inside = plan_.dst_window(place),
         .channels = static_cast<int>(channels.size()),
         .products = panels + gradients_.at(0, channels.begin, c),
         .product = gradients_.product});
  }
}

/// The rows of a pack's images that the chunk sees: [row][column][16 images][16
/// channels], channels that there are not as zeros.
void WinogradStage::transpose_sources(const Pass& pass, const Chunk& chunk,
                                      const Band& images, Range channels,
                                      float* turned) const {
  const ProductKernels& kernels = product_kernels(pass.kernels);
  const std::size_t plane = pack_floats({1, images.rows, src_.width});
  const std::size_t width = static_cast<std::size_t>(src_.width);
  const Range pixels = {(plan_.first_src_row(chunk) - images.top) * width,
                        (plan_.last_src_row(chunk) - images.top) * width};
  for (std::size_t i = pixels.begin; i < pixels.end; ++i, turned += kPack * kPack) {
    const float* from = images.first + i * kPack;
    if (channels.size() == kPack) {
      kernels.rows_to_tile({from, plane, kPack, kPack, turned});
      continue;
    }
    std::fill_n(turned, kPack * kPack, 0.0f);
    for (std::size_t c = 0; c < channels.size(); ++c) {
      for (int n = 0; n < kPack; ++n) turned[n * kPack + c] = from[c * plane + n];
    }
  }
}

void WinogradStage::transform_turned_sources(const Pass& pass, const Chunk& chunk,
                                             const Band& images, std::size_t pack,
                                             Range channels, float* panels,
                                             float* scratch) const {
  const WinogradKernels& kernels = winograd_kernels(pass.kernels);
  constexpr std::ptrdiff_t kPixel = kPack * kPack;
  transpose_sources(pass, chunk, images, channels, scratch);
  const std::ptrdiff_t above =
      static_cast<std::ptrdiff_t>(plan_.first_src_row(chunk)) * src_.width;
  const std::size_t first = pack * plan_.columns_a_pack(chunk);
  for (std::size_t c = first; c < first + plan_.columns_a_pack(chunk); ++c) {
    const TilePlace place = plan_.place(chunk, c);
    kernels.source_to_products(
        {.form = plan_.form(),
         .image = scratch + (plan_.src_offset(place) - above) * kPixel,
         .image_pixel = kPixel,
         .image_row = static_cast<std::size_t>(src_.width * kPixel),
         .image_channel = kPack,  // from image to image
         .inside = plan_.src_window(place),
         .channels = kPack,
         .products = panels + turned_sources_.at(0, 0, c),
         .product = turned_sources_.product});
  }
}

/// The gradient of some channels' taps and, with the first of them, all of the source's.
void WinogradStage::gradients_from_products(const Pass& pass, const Chunk& chunk,
                                            Range turned, bool accumulate,
                                            const Stored& src_gradient) const {
  const int threads = pass.team.threads();
  const std::size_t parts = column_parts(chunk);
  const Tiles sources = channel_groups(src_.channels, parts, threads);
  const bool skips_sources = src_gradient == nullptr || turned.begin > 0;
  const std::size_t source_tasks = skips_sources ? 0 : sources.count * parts;
  const auto channels_here = static_cast<int>(turned.size());
  const std::size_t wide = block_count(channels_here, kTapsWide);
  const bool frozen = pass.parameters[kWinogradTaps].gradient == nullptr;
  const std::size_t taps_tasks =
      frozen ? 0 : wide * block_count(dst_.channels, kTapsHigh);

  // Taps first: theirs are the larger tasks, and the smaller ones fill up the end.
  pass.team.run(taps_tasks + source_tasks, [&](std::size_t task, int thread) {
    float* scratch =
        pass.arena.get(backward_.scratch) + thread * backward_.scratch_floats;
    if (task < taps_tasks) {
      const Range part = block_of(channels_here, task % wide, kTapsWide);
      taps_backward(pass, chunk, block_of(dst_.channels, task / wide, kTapsHigh),
                    {turned.begin + part.begin, turned.begin + part.end}, turned.begin,
                    accumulate, scratch);
      return;
    }
    task -= taps_tasks;
    const Part part = {sources.range(static_cast<int>(task / parts)),
                       column_part(chunk, task % parts)};
    source_backward(pass, chunk, part, scratch, src_gradient, pass.fp32_buffer(thread));
  });
}

void WinogradStage::source_backward(const Pass& pass, const Chunk& chunk,
                                    const Part& part, float* scratch,
                                    const Stored& src_gradient, float* buffer) const {
  const std::size_t plane = pack_floats({1, src_.height, src_.width});
  const Range packs = {
      chunk.first_pack + part.columns.begin / plan_.columns_a_pack(chunk),
      chunk.first_pack + part.columns.end / plan_.columns_a_pack(chunk)};
  for (std::size_t pack = packs.begin; pack < packs.end && chunk.first_row == 0; ++pack) {
    src_gradient.fill_zeros(pack * pack_floats(src_) + part.channels.begin * plane,
                            part.channels.size() * plane);
  }
  const GradientBands bands =
      gradient_bands(chunk, part.channels, packs, src_gradient, buffer);
  float* products = scratch + taps_.scratch;
  for (std::size_t c = part.columns.begin; c < part.columns.end; c += block_) {
    const Part block = {part.channels, {c, std::min(part.columns.end, c + block_)}};
    multiply_backward(pass, block, scratch, products);
    add_source_gradients(pass, chunk, block, products, bands);
  }
  if (!src_gradient.is_fp32()) {
    store_bands(chunk, part.channels, packs, bands, src_gradient);
  }
}

/// The rows of the source's gradient that the chunk adds to: in place, or widened. Where
/// a chunk is part of a pack, the one before it has rounded the rows that both add to.
WinogradStage::GradientBands WinogradStage::gradient_bands(const Chunk& chunk,
                                                           Range channels, Range packs,
                                                           const Stored& src_gradient,
                                                           float* buffer) const {
  const std::size_t plane = src_.pixels() * kPack;
  const std::size_t first = packs.begin * pack_floats(src_) + channels.begin * plane;
  if (src_gradient.is_fp32()) {
    return {src_gradient + first, 0, plane, pack_floats(src_), packs.begin};
  }
  const Shape shape = {static_cast<int>(channels.size()), src_.height, src_.width};
  const int top = plan_.first_src_row(chunk), bottom = plan_.last_src_row(chunk);
  const std::size_t band_plane = pack_floats({1, bottom - top, src_.width});
  const GradientBands bands = {buffer, top, band_plane, channels.size() * band_plane,
                               packs.begin};
  for (std::size_t i = 0; i < packs.size(); ++i) {
    read_band(src_gradient, first + i * pack_floats(src_), shape, top, bottom,
              buffer + i * bands.pack);
  }
  return bands;
}

void WinogradStage::store_bands(const Chunk& chunk, Range channels, Range packs,
                                const GradientBands& bands,
                                const Stored& src_gradient) const {
  const std::size_t row = static_cast<std::size_t>(src_.width) * kPack;
  const std::size_t size = bands.plane;
  for (std::size_t i = 0; i < packs.size(); ++i) {
    for (std::size_t k = 0; k < channels.size(); ++k) {
      const std::size_t plane = (packs.begin + i) * pack_floats(src_) +
                                (channels.begin + k) * row * src_.height;
      src_gradient.store(plane + plan_.first_src_row(chunk) * row, size,
                         bands.first + i * bands.pack + k * bands.plane);
    }
  }
}

/// products[product][column][channel] = (taps, turned) x gradients.
void WinogradStage::multiply_backward(const Pass& pass, const Part& part, float* scratch,
                                      float* products) const {
  const std::size_t depth = static_cast<std::size_t>(dst_.channels);
  for (std::size_t k = 0; k < depth; k += kSlab) {
    const Range slab = {k, std::min(depth, k + kSlab)};
    const Taps taps =
        taps_of(pass, backward_.taps, slab, part.channels, scratch, kTurnedTapsRow);
    for (int t = 0; t < plan_.products(); ++t) {
      for (std::size_t i = 0; i < part.columns.size(); ++i) {
        const Product product = {.a = taps.first + t * taps.product,
                                 .a_row = 1,
                                 .a_stride = taps.row,
                                 .b = nullptr,
                                 .dst = products + t * part.product() + i * part.column(),
                                 .dst_row = kPack,
                                 .rows = static_cast<int>(part.channels.size()),
                                 .depth = 0,
                                 .accumulate = k > 0};
        multiply(pass, product, gradients_, t, part.columns, i, slab);
      }
    }
  }
}

void WinogradStage::add_source_gradients(const Pass& pass, const Chunk& chunk,
                                         const Part& part, const float* products,
                                         const GradientBands& bands) const {
  const WinogradKernels& kernels = winograd_kernels(pass.kernels);
  const std::size_t row = static_cast<std::size_t>(src_.width) * kPack;
  const std::ptrdiff_t above = static_cast<std::ptrdiff_t>(bands.top) * src_.width;
  for (std::size_t i = 0; i < part.columns.size(); ++i) {
    const TilePlace place = plan_.place(chunk, part.columns.begin + i);
    kernels.add_source_gradient({.form = plan_.form(),
                                 .products = products + i * part.column(),
                                 .product = part.product(),
                                 .channels = static_cast<int>(part.channels.size()),
                                 .bias = nullptr,
                                 .clamp_min = kNoClamp,
                                 .image = bands.first +
                                          (place.pack - bands.first_pack) * bands.pack +
                                          (plan_.src_offset(place) - above) * kPack,
                                 .image_row = row,
                                 .image_channel = bands.plane,
                                 .inside = plan_.src_window(place)});
  }
}

/// Adds some columns' share of one product of 16 x 16 taps' gradient, or begins with it.
void WinogradStage::multiply_columns(const Pass& pass, int t, Range columns,
                                     std::size_t row, std::size_t channel,
                                     const float* next, float* dst) const {
  const int rows = std::min(kPack, dst_.channels - static_cast<int>(row));
  product_table(pass).product(
      {.a = pass.arena.get(gradients_.slot) + gradients_.at(t, row, columns.begin),
       .a_row = kPack,
       .b = pass.arena.get(turned_sources_.slot) +
            turned_sources_.at(t, channel, columns.begin),
       .dst = dst,
       .dst_row = kTapsWide,
       .rows = rows,
       .depth = kPack,
       .accumulate = columns.begin > 0,
       .pieces = static_cast<int>(columns.size()),
       .a_piece = kPack * kPack,
       .b_piece = kPack * kPack,
       .next_b = next});
}

/// The gradient of the taps from source `channels` to output channels `rows`; the first
/// channel that was turned is `first_turned`.
void WinogradStage::taps_backward(const Pass& pass, const Chunk& chunk, Range rows,
                                  Range channels, std::size_t first_turned,
                                  bool accumulate, float* scratch) const {
  const std::size_t columns = plan_.columns(chunk);
  const std::size_t product = rows.size() * kTapsWide + kPad;
  const float* right = pass.arena.get(turned_sources_.slot);
  for (int t = 0; t < plan_.products(); ++t) {
    for (std::size_t c = 0; c < columns; c += kColumnsATime) {
      const std::size_t count = std::min(kColumnsATime, columns - c);
      for (std::size_t k = rows.begin; k < rows.end; k += kPack) {
        for (std::size_t i = channels.begin; i < channels.end; i += kPack) {
          const bool last = i + kPack >= channels.end;
          const std::size_t following = last ? channels.begin : i + kPack;
          const float* next =
              right + turned_sources_.at(last ? t + 1 : t, following - first_turned, c);
          multiply_columns(pass, t, {c, c + count}, k, i - first_turned, next,
                           scratch + t * product + (k - rows.begin) * kTapsWide +
                               (i - channels.begin));
        }
      }
    }
  }
  const auto sources = static_cast<std::size_t>(src_.channels);
  winograd_kernels(pass.kernels)
      .taps_from_products({.form = plan_.form(),
                           .products = scratch,
                           .product = product,
                           .products_row = kTapsWide,
                           .rows = static_cast<int>(rows.size()),
                           .channels = static_cast<int>(channels.size()),
                           .taps = pass.parameters[kWinogradTaps].gradient +
                                   (rows.begin * sources + channels.begin) * plan_.taps(),
                           .taps_row = sources * plan_.taps(),
                           .accumulate = accumulate});
}

}  // namespace convoy
