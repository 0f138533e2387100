// SPDX-License-Identifier: Apache-2.0

#include "convoy/pack/image_packer.h"

#include <algorithm>
#include <string>

#include "convoy/images/image_file.h"
#include "convoy/images/jpeg_writer.h"
#include "convoy/images/raw_image.h"
#include "convoy/loader/cutout.h"

namespace convoy {
namespace {

/// Of [channel][row][column]. Requires: three channels.
Image interleaved(std::span<const std::uint8_t> planes, ImageSize size) {
  Image image;
  image.resize(size);
  const std::size_t plane = planes.size() / 3;
  for (std::size_t i = 0; i < plane; ++i) {
    for (std::size_t c = 0; c < 3; ++c) image.pixels[3 * i + c] = planes[c * plane + i];
  }
  return image;
}

/// The whole image, at this shorter side.
Cutout whole_at(ImageSize image, int short_side) {
  const ImageSize size = centre_cutout(image, short_side, {short_side, short_side}).size;
  return {whole(image), size, whole(size)};
}

}  // namespace

std::vector<std::byte> ImagePacker::encode(const Image& image,
                                           const std::string& name) const {
  return packing_.as == PackedAs::raw ? raw_image_bytes(image)
                                      : jpeg_bytes(image, packing_.quality, name);
}

std::vector<std::byte> ImagePacker::pack_file(const Dataset& data, std::size_t sample) {
  const std::string name = data.files->contents->name(sample);
  const std::span<const std::byte> content = data.files->contents->read(sample, buffer_);
  ImageFile file(content, name);
  const ImageSize size = file.size();
  const int short_side = packing_.short_side;
  if (short_side > 0 && std::min(size.width, size.height) > short_side) {
    const Cutout cutout = whole_at(size, short_side);
    return encode(interleaved(resizer_.show(file, cutout, Decoding::exact), cutout.size),
                  name);
  }
  const Image image = decode_image(content, name);
  if (packing_.as == PackedAs::raw) return raw_image_bytes(image);
  return {content.begin(), content.end()};
}

std::vector<std::byte> ImagePacker::pack(const Dataset& data, std::size_t sample) {
  if (data.files) return pack_file(data, sample);
  const ImageSize size = {data.shape.width, data.shape.height};
  return encode(interleaved(data.image(sample), size),
                data.name + ": sample " + std::to_string(sample));
}

}  // namespace convoy
