// SPDX-License-Identifier: Apache-2.0
//
// Checks and error messages that all readers share.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "convoy/base/error.h"
#include "convoy/base/shape.h"

namespace convoy {

/// Makes the error of a file with unexpected content.
InputError bad_data(const std::string& where, const std::string& found,
                    const std::string& expected, const std::string& hint = "");

/// Throws InputError of kind `storage` if the machine has less free memory than the
/// content that `where` announces needs.
void expect_room_for(unsigned __int128 bytes, const std::string& where);

/// Allocates memory for content whose size `where` announces. Throws as
/// expect_room_for().
std::vector<std::uint8_t> room_for(unsigned __int128 bytes, const std::string& where);

/// Formats as "3 x 32 x 32".
std::string to_text(const Shape& shape);

}  // namespace convoy
