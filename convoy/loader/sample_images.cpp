// SPDX-License-Identifier: Apache-2.0

#include "convoy/loader/sample_images.h"

#include <span>

namespace convoy {

SampleImages::SampleImages(const Dataset& data, const Normalization& normalization,
                           Shape shape)
    : data_(data), shape_(shape), pixels_(shape, normalization) {
  if (shape == data.shape) return;
  if (data.images.are_bytes()) {
    resizer_.emplace<Resizer<std::uint8_t>>(data.shape, shape);
  } else {
    resizer_.emplace<Resizer<float>>(data.shape, shape);
  }
}

void SampleImages::write(std::size_t sample, const View& view, float* dst) {
  data_.visit_image(sample, [&]<class Number>(std::span<const Number> image) {
    auto* resizer = std::get_if<Resizer<Number>>(&resizer_);
    pixels_.write(resizer ? resizer->resize(image) : image, view, dst);
  });
}

}  // namespace convoy
