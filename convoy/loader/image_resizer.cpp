// SPDX-License-Identifier: Apache-2.0

#include "convoy/loader/image_resizer.h"

#include <algorithm>
#include <cstring>

#include "convoy/base/vector_clones.h"

namespace convoy {
namespace {

/// The old pixels of which the new ones in a range are made.
Range sources(const AxisFilter& filter, Range pixels) {
  const auto& last = filter.taps(pixels.end - 1);
  return {filter.taps(pixels.begin).first, last.first + last.count};
}

Range range_of(int first, int count) {
  return {static_cast<std::size_t>(first), static_cast<std::size_t>(first + count)};
}

using Four __attribute__((vector_size(16))) = std::int32_t;

/// Red, green, blue and the byte after them. Little-endian, as all processors that convoy
/// has kernels for.
inline Four pixel_at(const std::uint8_t* src) {
  std::int32_t word = 0;
  std::memcpy(&word, src, sizeof(word));
  return (Four{word, word, word, word} >> Four{0, 8, 16, 24}) & 255;
}

/// Writes the columns of a range, [channel][column]. `row` begins with the first pixel of
/// which the first column is made.
CONVOY_WITH_AVX2 void resize_row(const std::uint8_t* row, const AxisFilter& across,
                                 Range columns, std::uint8_t* dst) {
  const std::size_t origin = across.taps(columns.begin).first, width = columns.size();
  for (std::size_t x = 0; x < width; ++x) {
    const auto [first, count] = across.taps(columns.begin + x);
    const std::int32_t* weights = across.weights(columns.begin + x, std::uint8_t{});
    const std::uint8_t* src = row + 3 * (first - origin);
    Four sum = {kByteSumStart, kByteSumStart, kByteSumStart, 0};
    for (std::size_t i = 0; i < count; ++i, src += 3) {
      sum += pixel_at(src) * weights[i];
    }
    for (std::size_t c = 0; c < 3; ++c) dst[c * width + x] = byte_of_sum(sum[c]);
  }
}

/// Sums of the bytes of several rows, which follow each other, by weight.
CONVOY_WITH_AVX2 void add_rows(const std::uint8_t* rows, const std::int32_t* weights,
                               std::size_t count, std::span<std::int32_t> sums) {
  std::fill(sums.begin(), sums.end(), kByteSumStart);
  for (std::size_t i = 0; i < count; ++i, rows += sums.size()) {
    const std::int32_t weight = weights[i];
    std::int32_t* dst = sums.data();
    for (std::size_t x = 0; x < sums.size(); ++x) dst[x] += rows[x] * weight;
  }
}

CONVOY_WITH_AVX2 void to_bytes(const std::int32_t* sums, std::size_t count,
                               std::uint8_t* dst) {
  for (std::size_t i = 0; i < count; ++i) dst[i] = byte_of_sum(sums[i]);
}

}  // namespace

std::span<const std::uint8_t> ImageResizer::show(ImageFile& file, const Cutout& cutout,
                                                 Decoding decoding) {
  const int reduction = file.reduction(cutout.box, cutout.size, decoding);
  const Box box = reduced(cutout.box, reduction);
  const AxisFilter across(box.width, cutout.size.width);
  const AxisFilter down(box.height, cutout.size.height);
  const Range columns = range_of(cutout.window.left, cutout.window.width);
  const Range rows = range_of(cutout.window.top, cutout.window.height);
  const Range from_columns = sources(across, columns), from_rows = sources(down, rows);
  const Box needed = {box.left + static_cast<int>(from_columns.begin),
                      box.top + static_cast<int>(from_rows.begin),
                      static_cast<int>(from_columns.size()),
                      static_cast<int>(from_rows.size())};
  resize_rows(file.read(needed, reduction, image_), across, columns);
  resize_columns(down, rows);
  return shown_;
}

/// Makes rows of the columns in a range. `place` is where in the image the first source
/// of these columns is.
void ImageResizer::resize_rows(const Box& place, const AxisFilter& across,
                               Range columns) {
  const std::size_t row_bytes = columns.size() * 3;
  rows_.resize(static_cast<std::size_t>(place.height) * row_bytes);
  for (int y = 0; y + 1 < place.height; ++y) {
    resize_row(image_.row(place.top + y) + std::ptrdiff_t{3} * place.left, across,
               columns, &rows_[static_cast<std::size_t>(y) * row_bytes]);
  }
  // Four bytes are read of every pixel: of the last row in a longer copy.
  const std::uint8_t* last = image_.row(place.top + place.height - 1);
  std::vector<std::uint8_t> copy(last, last + image_.row_bytes());
  copy.push_back(0);
  resize_row(&copy[3 * static_cast<std::size_t>(place.left)], across, columns,
             &rows_[rows_.size() - row_bytes]);
}

void ImageResizer::resize_columns(const AxisFilter& down, Range rows) {
  const std::size_t origin = down.taps(rows.begin).first;
  const std::size_t height = sources(down, rows).size();
  const std::size_t row_bytes = rows_.size() / height, width = row_bytes / 3;
  const std::size_t plane = rows.size() * width;
  sums_.resize(row_bytes);
  shown_.resize(3 * plane);
  for (std::size_t y = rows.begin; y < rows.end; ++y) {
    const auto [first, count] = down.taps(y);
    add_rows(&rows_[(first - origin) * row_bytes], down.weights(y, std::uint8_t{}), count,
             sums_);
    for (std::size_t c = 0; c < 3; ++c) {
      to_bytes(&sums_[c * width], width, &shown_[c * plane + (y - rows.begin) * width]);
    }
  }
}

}  // namespace convoy
