// SPDX-License-Identifier: Apache-2.0
//
// What is said about wrong settings. Internal to the settings.

#pragma once

#include <span>
#include <string>
#include <string_view>

#include "convoy/base/error.h"

namespace convoy {

/// An InputError of kind `settings`.
InputError settings_error(const Fault& fault);

/// The error of a name that is no setting, with the nearest one as hint.
InputError unknown_setting(const std::string& name, const std::string& where);

/// The error of `group=value` for a group of settings without options.
InputError group_as_value(const std::string& group, const std::string& value,
                          const std::string& where);

/// "nearest name: x", or "" if none is near.
std::string nearest_hint(std::string_view name, std::span<const std::string> candidates);

/// Text as a message shows it: "nothing" if empty, odd bytes escaped, not too long.
std::string shown(std::string_view text);

}  // namespace convoy
