// SPDX-License-Identifier: Apache-2.0
//
// The packed format: a dataset of encoded images in one file.
//
//   byte  0  "convoypk"          8
//         8  version, 1          8   numbers are little-endian
//        16  where records begin 8
//        24  samples of train, samples of val, bytes of the description   8 each
//        48  SHA-256 of records and description, as text   64
//       112  0                 144
//       256  images, one after the other: JPEG, PNG or raw (images/raw_image.h)
//            records, 24 bytes each, of train, then of val
//            description: JSON with the names of the classes and how it was made
//
// The file has exactly this length. Opening it reads records and description only;
// verify_packed() compares every image with the checksum of its record.

#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "convoy/data/dataset.h"
#include "convoy/data/folder/image_folder.h"

namespace convoy {

/// Where an image is, and what it shows.
struct PackedRecord {
  std::uint64_t offset = 0;
  std::uint64_t checksum = 0;  // packed_checksum() of its bytes
  std::uint32_t bytes = 0;
  std::int32_t label = 0;
};

inline constexpr std::size_t kPackedHeaderBytes = 256;

/// The first eight bytes of the SHA-256.
std::uint64_t packed_checksum(std::span<const std::byte> bytes);

/// What follows the images of a file, and the header before them.
struct PackedEnds {
  std::string header, tail;
};

/// For images that end at `records_begin`.
PackedEnds packed_ends(std::uint64_t records_begin, std::span<const PackedRecord> train,
                       std::span<const PackedRecord> val,
                       const nlohmann::ordered_json& description);

/// Opens a file. Its images are decoded as the options say, whose root is the file.
/// Throws InputError: of kind `storage` if it cannot be read, of kind `data` if it has
/// another format or is damaged; images are not looked at.
DataPair open_packed(const ImageFolderOptions& options);

/// Throws InputError of kind `data`, naming the first image whose bytes have another
/// checksum, and as open_packed().
void verify_packed(const std::filesystem::path& file);

}  // namespace convoy
