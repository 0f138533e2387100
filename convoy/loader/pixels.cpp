// SPDX-License-Identifier: Apache-2.0

#include "convoy/loader/pixels.h"

#include <algorithm>
#include <cstddef>

#include "convoy/base/error.h"

namespace convoy {
namespace {

/// Returns the position in [0, size) that reflection padding shows at `place`.
int between_mirrors(int place, int size) {
  const int period = std::max(1, 2 * (size - 1));
  const int in_period = (place % period + period) % period;
  return std::min(in_period, period - in_period);
}

}  // namespace

PixelWriter::PixelWriter(Shape shape, const Normalization& normalization)
    : shape_(shape), channels_(static_cast<std::size_t>(shape.channels)) {
  check(normalization.fits(shape), "a normalization fits its images");
  for (std::size_t i = 0; i < channels_.size(); ++i) {
    const auto [mean, deviation] = normalization.of(i);
    check(deviation > 0, "a deviation is positive");
    channels_[i].mean = static_cast<float>(mean);
    channels_[i].deviation = static_cast<float>(deviation);
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const double scaled = static_cast<double>(byte) / 255;
      channels_[i].bytes[byte] = static_cast<float>((scaled - mean) / deviation);
    }
  }
}

void PixelWriter::write(std::span<const std::uint8_t> image, const View& view,
                        float* dst) const {
  write_image(image.data(), view, dst);
}

void PixelWriter::write(std::span<const float> image, const View& view,
                        float* dst) const {
  write_image(image.data(), view, dst);
}

template <class Number>
void PixelWriter::write_image(const Number* plane, const View& view, float* dst) const {
  for (const Channel& channel : channels_) {
    for (int row = 0; row < shape_.height; ++row, dst += shape_.width) {
      const int place = row + view.down;
      const int from = view.edges_mirror ? between_mirrors(place, shape_.height) : place;
      if (from >= 0 && from < shape_.height) {
        write_row(channel, plane + std::ptrdiff_t{from} * shape_.width, view, dst);
      } else {
        std::fill_n(dst, shape_.width, channel(Number{0}));
      }
    }
    plane += shape_.pixels();
  }
}

template <class Number>
void PixelWriter::write_row(const Channel& channel, const Number* src, const View& view,
                            float* dst) const {
  // Columns [first, last) show the image's columns [first + right, last + right).
  const int width = shape_.width;
  const int first = std::clamp(-view.right, 0, width);
  const int last = std::clamp(width - view.right, first, width);
  const auto write_beyond = [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      const int from = between_mirrors(i + view.right, width);
      dst[view.mirrored ? width - 1 - i : i] =
          channel(view.edges_mirror ? src[from] : Number{0});
    }
  };
  write_beyond(0, first);
  write_beyond(last, width);
  if (view.mirrored) {
    for (int i = first; i < last; ++i) dst[width - 1 - i] = channel(src[i + view.right]);
  } else {
    for (int i = first; i < last; ++i) dst[i] = channel(src[i + view.right]);
  }
}

}  // namespace convoy
