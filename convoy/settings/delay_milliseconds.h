// SPDX-License-Identifier: Apache-2.0
//
// The value of `inject.delay`.

#pragma once

#include <optional>
#include <string_view>

namespace convoy {

/// Returns the milliseconds of "none", "small", "medium", "long", or of a number from 0
/// to 60000; nothing for any other text.
std::optional<double> delay_milliseconds(std::string_view text);

}  // namespace convoy
