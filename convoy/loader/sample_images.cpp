// SPDX-License-Identifier: Apache-2.0

#include "convoy/loader/sample_images.h"

#include <span>

#include "convoy/base/error.h"

namespace convoy {

SampleImages::SampleImages(const Dataset& data, const Normalization& normalization,
                           Shape shape, DamagedSample damaged)
    : data_(data), shape_(shape), pixels_(shape, normalization) {
  if (data.files) {
    check(shape == data.shape, "files are decoded to the dataset's shape");
    source_.emplace<FileImages>(data, damaged);
  }
  if (shape == data.shape) return;
  if (data.images.are_bytes()) {
    source_.emplace<Resizer<std::uint8_t>>(data.shape, shape);
  } else {
    source_.emplace<Resizer<float>>(data.shape, shape);
  }
}

std::optional<std::size_t> SampleImages::write(std::size_t sample, const View& view,
                                               float* dst, ByteTransforms* transforms) {
  if (auto* files = std::get_if<FileImages>(&source_)) {
    const std::optional<FileImages::Shown> shown = files->show(sample, view.cutout);
    if (!shown) return std::nullopt;
    write_file(shown->pixels, view, dst, transforms);
    return shown->sample;
  }
  data_.visit_image(sample, [&]<class Number>(std::span<const Number> image) {
    auto* resizer = std::get_if<Resizer<Number>>(&source_);
    pixels_.write(resizer ? resizer->resize(image) : image, view, dst);
  });
  return sample;
}

void SampleImages::write_file(std::span<const std::uint8_t> pixels, const View& view,
                              float* dst, ByteTransforms* transforms) {
  const bool changed = view.cutout && transforms != nullptr && transforms->is_on();
  if (!changed) return pixels_.write(pixels, view, dst);
  const ImageSize size = {shape_.width, shape_.height};
  pixels_.write(transforms->apply(pixels, size, view.mirrored, view.cutout->stream()),
                View{}, dst);
}

}  // namespace convoy
