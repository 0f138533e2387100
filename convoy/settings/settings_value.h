// SPDX-License-Identifier: Apache-2.0
//
// One setting's value: read from text, checked, printed. Internal to the settings.

#pragma once

#include <string>
#include <string_view>

#include "convoy/settings/settings_table.h"

namespace convoy {

/// A setting as someone wrote it, not yet understood.
struct SettingAssignment {
  std::string name;   // "train.epochs"
  std::string value;  // "6"
  std::string where;  // "run.yaml:3: train.epochs"
};

/// Reads the value into its place. Throws InputError if it is not one the setting takes.
void assign(const Setting& setting, const SettingAssignment& assignment,
            const KnownNames& names, Settings& settings);

/// Throws InputError unless the value in its place is one the setting takes, whatever the
/// known names are.
void check_value(const Setting& setting, const std::string& where, Settings& settings);

/// The value as text. Read back it gives the same bits.
std::string value_text(const Field& field);

/// "a whole number from 1".
std::string expected_text(const Setting& setting, const KnownNames& names);

/// Offset of the first byte that is not part of UTF-8, or npos.
std::size_t find_bad_utf8(std::string_view text);

}  // namespace convoy
