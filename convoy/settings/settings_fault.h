// SPDX-License-Identifier: Apache-2.0
//
// Error messages about settings. Internal to the settings.

#pragma once

#include <span>
#include <string>
#include <string_view>

#include "convoy/base/error.h"

namespace convoy {

/// Makes an InputError of kind `settings`.
InputError settings_error(const Fault& fault);

/// Makes the error of an unknown name, with the nearest name as hint.
InputError unknown_setting(const std::string& name, const std::string& where);

/// Makes the error of `group=value` for a group without options.
InputError group_as_value(const std::string& group, const std::string& value,
                          const std::string& where);

/// Returns "nearest name: x", or "" if none is near.
std::string nearest_hint(std::string_view name, std::span<const std::string> candidates);

/// Formats text for a message: "nothing" if empty, odd bytes escaped, not too long.
std::string shown(std::string_view text);

}  // namespace convoy
