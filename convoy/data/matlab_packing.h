// SPDX-License-Identifier: Apache-2.0
//
// The packing of a MATLAB 5 file. matio does not check the checksums; this does.
//
//   | 128 bytes, the last two "IM" | type, bytes | content | type, bytes | content | ...
//
// Type 15 is a zlib stream, with the checksum of what it unpacks to at its end.

#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace convoy {

/// Throws InputError of kind `data`, naming the byte, unless the file is little-endian, a
/// row of whole elements, and those that are packed unpack without damage.
void check_matlab_packing(std::span<const std::uint8_t> file, const std::string& where);

}  // namespace convoy
