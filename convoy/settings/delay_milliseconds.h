// SPDX-License-Identifier: Apache-2.0
//
// What `inject.delay` means.

#pragma once

#include <optional>
#include <string_view>

namespace convoy {

/// Milliseconds of "none", "small", "medium", "long", or a number from 0 to 60000.
/// Nothing for any other text.
std::optional<double> delay_milliseconds(std::string_view text);

}  // namespace convoy
