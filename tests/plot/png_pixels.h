// SPDX-License-Identifier: Apache-2.0
//
// PngPixels: what a PNG shows, as libpng reads it.

#pragma once

#include <png.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace convoy {

struct Pixel {
  unsigned char red, green, blue;
};

class PngPixels {
 public:
  /// Throws if the bytes are no whole PNG.
  explicit PngPixels(const std::string& bytes) {
    image_.version = PNG_IMAGE_VERSION;
    if (png_image_begin_read_from_memory(&image_, bytes.data(), bytes.size()) == 0) {
      throw std::runtime_error(image_.message);
    }
    image_.format = PNG_FORMAT_RGB;
    pixels_.resize(std::size_t{image_.width} * image_.height);
    if (png_image_finish_read(&image_, nullptr, pixels_.data(), 0, nullptr) == 0) {
      throw std::runtime_error(image_.message);
    }
  }

  int width() const { return static_cast<int>(image_.width); }
  int height() const { return static_cast<int>(image_.height); }

  template <class Condition>
  int count(const Condition& holds) const {
    return static_cast<int>(std::count_if(pixels_.begin(), pixels_.end(), holds));
  }

 private:
  png_image image_{};
  std::vector<Pixel> pixels_;
};

}  // namespace convoy
