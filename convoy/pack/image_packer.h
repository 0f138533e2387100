// SPDX-License-Identifier: Apache-2.0
//
// ImagePacker: one image of a dataset as a packed file has it.

#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "convoy/data/dataset.h"
#include "convoy/loader/image_resizer.h"

namespace convoy {

/// What images become.
enum class PackedAs {
  jpeg,  // files as they are unless they are resized: then JPEGs
  raw    // pixels
};

struct ImagePacking {
  PackedAs as = PackedAs::jpeg;
  int short_side = 0;  // larger images are resized to this shorter side; 0: none are
  int quality = 90;    // of JPEGs that are made
};

/// For one thread.
class ImagePacker {
 public:
  explicit ImagePacker(ImagePacking packing) : packing_(packing) {}

  /// Returns the bytes to store of a sample. A file that stays as it is has been decoded
  /// once. Throws InputError of kind `data` if it is damaged, and of kind `storage`.
  std::vector<std::byte> pack(const Dataset& data, std::size_t sample);

 private:
  std::vector<std::byte> pack_file(const Dataset& data, std::size_t sample);
  std::vector<std::byte> encode(const Image& image, const std::string& name) const;

  ImagePacking packing_;
  std::vector<std::byte> buffer_;
  ImageResizer resizer_;
};

}  // namespace convoy
