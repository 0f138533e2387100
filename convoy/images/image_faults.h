// SPDX-License-Identifier: Apache-2.0
//
// Image faults: what is wrong with an image file, in the words of all its readers.

#pragma once

#include <cstdint>
#include <string>

namespace convoy {

/// As many pixels as Pillow opens (twice its MAX_IMAGE_PIXELS).
inline constexpr std::uint64_t kMostPixels = 2 * 89'478'485;

/// Throws InputError of kind `data`; `where` names the file.
[[noreturn]] void refuse_image(const std::string& where, const std::string& found);

/// Throws InputError of kind `data` unless a header announces at least one pixel and at
/// most kMostPixels: a few bytes may announce more than memory has room for.
void check_image_size(const std::string& where, std::uint64_t width,
                      std::uint64_t height);

}  // namespace convoy
