// SPDX-License-Identifier: Apache-2.0
//
// Checks the compressed elements of a MATLAB 5 file. matio does not verify their
// checksums.
//
//   | 128 bytes, the last two "IM" | type, bytes | content | type, bytes | content | ...
//
// Type 15 is a zlib stream, which ends with a checksum of the decompressed data.

#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace convoy {

/// Throws InputError of kind `data`, naming the byte, unless the file is little-endian,
/// consists of complete elements, and all compressed elements are undamaged.
void check_matlab_packing(std::span<const std::uint8_t> file, const std::string& where);

}  // namespace convoy
