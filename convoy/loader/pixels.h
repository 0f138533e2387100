// SPDX-License-Identifier: Apache-2.0
//
// PixelWriter: converts an image's pixels to normalised numbers. Bytes are normalised by
// one table of 256 entries per channel, floats by the formula.

#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "convoy/base/shape.h"
#include "convoy/loader/augmentation.h"
#include "convoy/loader/normalization.h"

namespace convoy {

class PixelWriter {
 public:
  /// For images of this shape. Requires: the normalization fits it.
  PixelWriter(Shape shape, const Normalization& normalization);

  /// Writes a view of an image, [channel][row][column]. Padding is black before
  /// normalisation.
  void write(std::span<const std::uint8_t> image, const View& view, float* dst) const;
  void write(std::span<const float> image, const View& view, float* dst) const;

 private:
  struct Channel {
    std::array<float, 256> bytes;  // a byte's normalised value
    float mean, deviation;         // of floats

    float operator()(std::uint8_t byte) const { return bytes[byte]; }
    float operator()(float number) const { return (number - mean) / deviation; }
  };

  template <class Number>
  void write_image(const Number* image, const View& view, float* dst) const;
  template <class Number>
  void write_row(const Channel& channel, const Number* src, const View& view,
                 float* dst) const;

  Shape shape_;
  std::vector<Channel> channels_;
};

}  // namespace convoy
