// SPDX-License-Identifier: Apache-2.0
//
// The value of one setting: parsed, checked, printed. Internal to the settings.

#pragma once

#include <string>
#include <string_view>

#include "convoy/settings/setting_assignment.h"
#include "convoy/settings/settings_table.h"

namespace convoy {

/// Parses the value into its field. Throws InputError if it is not allowed.
void assign(const Setting& setting, const SettingAssignment& assignment,
            const KnownNames& names, Settings& settings);

/// Throws InputError unless the value of the field is allowed, whatever the registered
/// names are.
void check_value(const Setting& setting, const std::string& where, Settings& settings);

/// Formats the value as text, from which it can be parsed to the same bits.
std::string value_text(const Field& field);

/// The allowed names, if only names are allowed; else nullptr. Borrows `names`.
const std::vector<std::string>* allowed_names(const Setting& setting,
                                              const KnownNames& names);

/// "a whole number from 1".
std::string expected_text(const Setting& setting, const KnownNames& names);

/// Returns the offset of the first byte that is not valid UTF-8, or npos.
std::size_t find_bad_utf8(std::string_view text);

}  // namespace convoy
