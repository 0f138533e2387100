// SPDX-License-Identifier: Apache-2.0
//
// What every reader of a format checks and says alike.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "convoy/base/error.h"
#include "convoy/base/shape.h"

namespace convoy {

/// The error of a file that is not what it should be.
InputError bad_data(const std::string& where, const std::string& found,
                    const std::string& expected, const std::string& hint = "");

/// Throws InputError of kind `storage` if the machine has not so much memory to give for
/// content that `where` says is this long.
void expect_room_for(unsigned __int128 bytes, const std::string& where);

/// Memory for content that `where` says is this long.
/// Throws as expect_room_for().
std::vector<std::uint8_t> room_for(unsigned __int128 bytes, const std::string& where);

/// "3 x 32 x 32".
std::string to_text(const Shape& shape);

}  // namespace convoy
