// SPDX-License-Identifier: Apache-2.0
//
// Resizer: images in another size, as Pillow's BILINEAR makes them, which is what
// torchvision's Resize does to a PIL image.
//
// A pixel of the new image is a weighted mean of the old image's pixels around its place:
//
//   weight of old pixel i for new pixel x = 1 - |i + 1/2 - (x + 1/2) r| / max(r, 1),
//   where that is positive, scaled so that the weights add up to 1;  r = old / new size
//
// So an image that becomes larger is interpolated between pixel centres, and one that
// becomes smaller is averaged (antialiased). Rows are resized first, then columns. Bytes
// have weights in fixed point, and bytes in between, rounded and clipped: they equal
// Pillow's to the bit. Floats have weights and sums in double precision and floats in
// between, as Pillow's mode F.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "convoy/base/shape.h"

namespace convoy {

/// Weights of bytes have this many bits of fraction: a byte times a weight, and a bit for
/// sums that are above 255 by rounding, fit 31 bits.
inline constexpr int kFractionBits = 32 - 8 - 2;

/// What a sum of weighted bytes begins with, so that cutting its fraction off rounds it.
inline constexpr std::int32_t kByteSumStart = 1 << (kFractionBits - 1);

inline std::uint8_t byte_of_sum(std::int32_t sum) {
  return static_cast<std::uint8_t>(std::clamp(sum >> kFractionBits, 0, 255));
}

/// How the pixels along one axis become those of another count.
class AxisFilter {
 public:
  /// The old pixels [first, first + count) that a new one is made of.
  struct Taps {
    std::size_t first = 0, count = 0;
  };

  AxisFilter(int from, int to);

  std::size_t size() const { return taps_.size(); }
  const Taps& taps(std::size_t pixel) const { return taps_[pixel]; }

  /// The weights of a new pixel's taps: of bytes in fixed point, of floats.
  const std::int32_t* weights(std::size_t pixel, std::uint8_t /*of*/) const {
    return &fixed_[pixel * most_];
  }
  const double* weights(std::size_t pixel, float /*of*/) const {
    return &weights_[pixel * most_];
  }

 private:
  std::size_t most_;  // taps that any pixel has
  std::vector<Taps> taps_;
  std::vector<double> weights_;
  std::vector<std::int32_t> fixed_;
};

/// Of bytes or of floats. For one thread.
template <class Number>
class Resizer {
 public:
  /// Requires: as many channels in both; heights and widths from 1.
  Resizer(Shape from, Shape to);

  /// One image in its new size, [channel][row][column], until the next call. Allocates
  /// nothing. Requires: one image.
  std::span<const Number> resize(std::span<const Number> image);

 private:
  using Sum = std::conditional_t<std::is_same_v<Number, float>, double, std::int32_t>;

  void resize_rows(const Number* plane);
  void resize_columns(Number* dst);

  Shape from_, to_;
  AxisFilter across_, down_;
  std::vector<Number> rows_;  // of one plane: rows of the old height and the new width
  std::vector<Sum> sums_;     // of one new row
  std::vector<Number> resized_;
};

extern template class Resizer<std::uint8_t>;
extern template class Resizer<float>;

}  // namespace convoy
