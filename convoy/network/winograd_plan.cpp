// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/winograd_plan.h"

#include <algorithm>

#include "convoy/base/range.h"
#include "convoy/network/kernels/kernels.h"
#include "convoy/network/winograd_sizes.h"

namespace convoy {
namespace {

// The size of one transformed operand: small enough that both fit a cache with the rest,
// unless there would be too few columns to be worth transforming taps.
constexpr std::size_t kChunkBytes = std::size_t{5} << 20;
// More than f4 has: half of the columns are then as many bytes.
constexpr int kManyProducts = 36;

int parts(int length, int part) { return (length + part - 1) / part; }

bool is_frame_of_ones(Shape src, int side, Padding padding) {
  return padding == 1 && src.height == side && src.width == side;
}

/// Whether tiles of the source see the image's padding; other forms know it is there.
bool has_frame(WinogradForm form) {
  return form == WinogradForm::f4 || form == WinogradForm::f2 ||
         form == WinogradForm::s4 || form == WinogradForm::s2;
}

/// Of large tiles and small ones. Of equals the more exact, which is the faster one, too.
WinogradForm least_work(WinogradMode mode, WinogradForm large, WinogradForm small,
                        Shape dst) {
  const bool fewer = multiplications(large, dst) < multiplications(small, dst);
  return mode == WinogradMode::f4 && fewer ? large : small;
}

WinogradForm best_form(WinogradMode mode, const Convolution& layer, Shape src) {
  const Shape dst = output_shape(layer, src);
  if (layer.kernel == 1) return layer.stride == 1 ? WinogradForm::p1 : WinogradForm::p2;
  if (layer.stride == 2) {
    const bool one = is_frame_of_ones(src, 2, layer.padding);
    return one ? WinogradForm::s1
               : least_work(mode, WinogradForm::s4, WinogradForm::s2, dst);
  }
  if (is_frame_of_ones(src, 1, layer.padding)) return WinogradForm::z1;
  if (is_frame_of_ones(src, 2, layer.padding)) return WinogradForm::z2;
  return least_work(mode, WinogradForm::f4, WinogradForm::f2, dst);
}

/// Whether a form is faster than direct convolution. Transforms cost as much as there are
/// channels on both sides, multiplications as much as their product: what counts is the
/// harmonic mean. Measured on forward and backward together: f4 wins from 14 on, f2 from
/// 24.
bool pays(WinogradForm form, int src_channels, Shape dst) {
  const int least = form == WinogradForm::f4 ? 16 : has_frame(form) ? 24 : 8;
  const int taps = size_of(form).all_taps() * static_cast<int>(dst.pixels());
  const bool single = size_of(form).taps == 1;
  return 2L * src_channels * dst.channels >=
             long{least} * (src_channels + dst.channels) &&
         (single || multiplications(form, dst) < taps);
}

}  // namespace

int multiplications(WinogradForm form, Shape dst) {
  const WinogradSize size = size_of(form);
  return size.all_products() * parts(dst.height, size.dst) * parts(dst.width, size.dst);
}

std::optional<WinogradForm> choose_form(WinogradMode mode, const Convolution& layer,
                                        Shape src) {
  const bool plain = layer.groups == 1 && layer.dilation == 1 && layer.padding.is_even();
  const int padding = layer.padding.top;
  const bool fits =
      plain && (layer.stride == 1 || layer.stride == 2) &&
      ((layer.kernel == 3 && padding <= 2) || (layer.kernel == 1 && padding == 0));
  if (mode == WinogradMode::off || !fits) return {};
  const WinogradForm form = best_form(mode, layer, src);
  if (!pays(form, src.channels, output_shape(layer, src))) return {};
  return form;
}

WinogradPlan::WinogradPlan(WinogradForm form, Shape src, Shape dst, int padding)
    : form_(form),
      size_(size_of(form)),
      src_(src),
      dst_(dst),
      frame_(has_frame(form) ? padding : 0),
      tiles_high_(parts(dst.height, size_.dst)),
      tiles_wide_(parts(dst.width, size_.dst)) {
  const auto channels = static_cast<std::size_t>(std::max(src.channels, dst.channels));
  const std::size_t column_bytes =
      channels * kPack * sizeof(float) * static_cast<std::size_t>(products());
  const std::size_t least = products() > kManyProducts ? kFewColumns / 2 : kFewColumns;
  const std::size_t columns = std::max(least, kChunkBytes / column_bytes);
  packs_a_chunk_ = columns / tiles();
  rows_a_chunk_ = tiles_high_;
  if (packs_a_chunk_ > 0) return;
  const int most_rows = std::max(1, static_cast<int>(columns) / tiles_wide_);
  rows_a_chunk_ = parts(tiles_high_, parts(tiles_high_, most_rows));
}

std::size_t WinogradPlan::chunks(std::size_t packs) const {
  if (packs_a_chunk_ > 0) return (packs + packs_a_chunk_ - 1) / packs_a_chunk_;
  return packs * static_cast<std::size_t>(parts(tiles_high_, rows_a_chunk_));
}

Chunk WinogradPlan::chunk(std::size_t number, std::size_t packs) const {
  if (packs_a_chunk_ > 0) {
    const std::size_t first = number * packs_a_chunk_;
    return {first, std::min(packs_a_chunk_, packs - first), 0, tiles_high_};
  }
  const auto chunks_a_pack = static_cast<std::size_t>(parts(tiles_high_, rows_a_chunk_));
  const int first = static_cast<int>(number % chunks_a_pack) * rows_a_chunk_;
  return {number / chunks_a_pack, 1, first, std::min(rows_a_chunk_, tiles_high_ - first)};
}

std::size_t WinogradPlan::most_columns(std::size_t packs) const {
  const std::size_t together = std::min(packs, std::max<std::size_t>(1, packs_a_chunk_));
  return together * static_cast<std::size_t>(rows_a_chunk_) * tiles_wide_;
}

TilePlace WinogradPlan::place(const Chunk& chunk, std::size_t column) const {
  const std::size_t in_pack = column % columns_a_pack(chunk);
  return {chunk.first_pack + column / columns_a_pack(chunk),
          chunk.first_row + static_cast<int>(in_pack) / tiles_wide_,
          static_cast<int>(in_pack) % tiles_wide_};
}

std::ptrdiff_t WinogradPlan::src_offset(const TilePlace& place) const {
  return static_cast<std::ptrdiff_t>(src_top(place)) * src_.width + src_left(place);
}

std::ptrdiff_t WinogradPlan::dst_offset(const TilePlace& place) const {
  return static_cast<std::ptrdiff_t>(dst_top(place)) * dst_.width + dst_left(place);
}

TileWindow WinogradPlan::src_window(const TilePlace& place) const {
  const int top = src_top(place), left = src_left(place);
  return {std::max(0, -top), std::min(size_.src, src_.height - top), std::max(0, -left),
          std::min(size_.src, src_.width - left)};
}

TileWindow WinogradPlan::dst_window(const TilePlace& place) const {
  return {0, std::min(size_.dst, dst_.height - dst_top(place)), 0,
          std::min(size_.dst, dst_.width - dst_left(place))};
}

int WinogradPlan::first_src_row(const Chunk& chunk) const {
  return std::max(0, chunk.first_row * src_stride() - frame_);
}

int WinogradPlan::last_src_row(const Chunk& chunk) const {
  const int last_tile = chunk.first_row + chunk.rows - 1;
  return std::min(src_.height, last_tile * src_stride() - frame_ + size_.src);
}

int WinogradPlan::last_dst_row(const Chunk& chunk) const {
  return std::min(dst_.height, (chunk.first_row + chunk.rows) * size_.dst);
}

int WinogradPlan::most_dst_rows() const {
  return std::min(dst_.height, rows_a_chunk_ * size_.dst);
}

int WinogradPlan::most_src_rows() const {
  return std::min(src_.height, (rows_a_chunk_ - 1) * src_stride() + size_.src);
}

}  // namespace convoy
