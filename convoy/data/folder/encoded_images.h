// SPDX-License-Identifier: Apache-2.0
//
// EncodedImages: images that stay in JPEG or PNG files, of any size, until they are
// needed.

#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "convoy/data/folder/damaged_files.h"
#include "convoy/images/image_file.h"

namespace convoy {

/// Any number of threads may call the methods.
class EncodedImages {
 public:
  virtual ~EncodedImages() = default;

  /// What a sample is called in messages.
  virtual std::string name(std::size_t sample) const = 0;

  /// The bytes of a sample's file, in `buffer` or elsewhere, until the buffer changes.
  /// Throws InputError of kind `storage`.
  virtual std::span<const std::byte> read(std::size_t sample,
                                          std::vector<std::byte>& buffer) const = 0;
};

/// A dataset's images if they are files, and how they are decoded.
struct ImageFiles {
  std::shared_ptr<const EncodedImages> contents{};
  Decoding decoding = Decoding::exact;
  /// The length that an image's shorter side gets before its centre is cut out.
  int short_side = 256;
  /// Where files that cannot be decoded are noted, which are then skipped. None: such a
  /// file is an error.
  std::shared_ptr<DamagedFiles> damaged{};
};

}  // namespace convoy
