// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/pointwise/pixel_product.h"

#include "convoy/network/kernels/point/pixels.h"
#include "convoy/network/winograd_sizes.h"

namespace convoy {

namespace {

/// The same of 16 bits: `from` is the first pixel of the first channel.
void gather_halves(const Stored& planes, std::size_t from, std::size_t plane,
                   std::size_t channels, std::size_t pixels, const Gathered& to) {
  for (std::size_t c = 0; c < round_up(channels, kPack); ++c) {
    Piece piece{};
    if (c < channels) planes.read(from + c * plane, pixels * kPack, piece.numbers);
    for (std::size_t i = 0; i < pixels; ++i) {
      std::copy_n(piece.numbers + i * kPack, kPack, to.first + i * to.pixel + c * kPack);
    }
  }
}

}  // namespace

void gather(const Pass& pass, const Stored& planes, Shape shape, Range channels,
            const PixelRun& run, const Gathered& to) {
  const std::size_t plane = shape.pixels() * kPack;
  const std::size_t from =
      run.pack * pack_floats(shape) + channels.begin * plane + run.first * kPack;
  if (!planes.is_fp32()) {
    gather_halves(planes, from, plane, channels.size(), run.count, to);
    return;
  }
  pixel_kernels(pass.kernels)
      .gather({.src = planes + from,
               .src_channel = plane,
               .channels = channels.size(),
               .pixels = run.count,
               .dst = to.first,
               .dst_pixel = to.pixel});
}

void GroupedMatrix::copy_rows(const Pass& pass, const float* matrix, float* to) const {
  pass.team.run(static_cast<std::size_t>(groups_.count), [&](std::size_t group, int) {
    const Range rows = groups_.range(static_cast<int>(group));
    product_kernels(pass.kernels)
        .rows_to_tile({.src = matrix + rows.begin * depth(),
                       .src_row = depth(),
                       .rows = static_cast<int>(rows.size()),
                       .depth = depth_,
                       .dst = to + rows.begin * depth()});
  });
}

void GroupedMatrix::copy_columns(const Pass& pass, const float* matrix, float* to) const {
  const auto all = static_cast<std::size_t>(groups_.rows);
  pass.team.run(static_cast<std::size_t>(groups_.count), [&](std::size_t group, int) {
    const Range rows = groups_.range(static_cast<int>(group));
    float* dst = to + rows.begin * depth();
    for (std::size_t k = 0; k < depth(); ++k, dst += rows.size()) {
      std::copy_n(matrix + k * all + rows.begin, rows.size(), dst);
    }
  });
}

namespace {

/// One slab of channels of one pixel, by the rows of a group.
void multiply_slab(const ProductKernels& kernels, Product product, std::size_t channels) {
  const std::size_t rest = channels % kPack;
  product.depth = static_cast<int>(channels - rest);
  if (product.depth > 0) {
    kernels.product(product);
    product.accumulate = true;
  }
  if (rest == 0) return;
  product.a += product.depth * product.a_stride;
  product.b += static_cast<std::size_t>(product.depth) * kPack;
  product.depth = static_cast<int>(rest);
  kernels.product(product);
}

/// Where the rows of a group go.
struct GroupRows {
  float* first;
  std::size_t row;
};

void multiply_group(const ProductKernels& kernels, const PixelProduct& work, Range rows,
                    const GroupRows& dst) {
  const std::size_t depth = work.matrix.depth();
  for (std::size_t c = 0; c < depth; c += kSlab) {
    const std::size_t channels = std::min<std::size_t>(kSlab, depth - c);
    for (std::size_t i = 0; i < work.pixels; ++i) {
      const float* b = work.src.first + i * work.src.pixel + c * kPack;
      multiply_slab(kernels,
                    {.a = work.factors + rows.begin * depth + c * rows.size(),
                     .a_row = 1,
                     .a_stride = rows.size(),
                     .b = b,
                     .dst = dst.first + i * kPack,
                     .dst_row = dst.row,
                     .rows = static_cast<int>(rows.size()),
                     .depth = 0,
                     .accumulate = c > 0,
                     .next_b = i + 1 < work.pixels ? b + work.src.pixel : nullptr},
                    channels);
    }
  }
}

}  // namespace

void multiply(KernelSet kernels, const PixelProduct& work) {
  for (std::size_t g = work.groups.begin; g < work.groups.end; ++g) {
    const Range rows = work.matrix.groups().range(static_cast<int>(g));
    const std::size_t first = work.dst_first + rows.begin * work.dst_row;
    if (work.tile == nullptr) {
      multiply_group(product_kernels(kernels), work, rows,
                     {work.dst + first, work.dst_row});
      continue;
    }
    const std::size_t size = work.pixels * kPack;
    multiply_group(product_kernels(kernels), work, rows, {work.tile, size});
    if (work.dst.is_fp32()) {
      pixel_kernels(kernels).stream(
          {work.tile, rows.size(), work.pixels, work.dst + first, work.dst_row});
    } else {
      for (std::size_t i = 0; i < rows.size(); ++i) {
        work.dst.store(first + i * work.dst_row, size, work.tile + i * size);
      }
    }
  }
  if (work.tile != nullptr && work.dst.is_fp32()) pixel_kernels(kernels).finish_stream();
}

}  // namespace convoy
