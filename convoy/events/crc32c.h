// SPDX-License-Identifier: Apache-2.0
//
// CRC-32C (Castagnoli, RFC 3720), and the masked form that event files use.

#pragma once

#include <cstdint>
#include <string_view>

namespace convoy {

std::uint32_t crc32c(std::string_view bytes);

/// Rotated and offset, as in event files: a CRC over bytes that contain CRCs is weak.
std::uint32_t masked_crc32c(std::string_view bytes);

}  // namespace convoy
