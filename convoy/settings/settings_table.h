// SPDX-License-Identifier: Apache-2.0
//
// The table of settings: one row per row of settings_table.inc, used for parsing,
// checking, printing, help and documentation. Internal to the settings.

#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "convoy/settings/known_names.h"
#include "convoy/settings/settings.h"

namespace convoy {

/// A reference to a choice in Settings, whichever enum it is.
struct ChoiceField {
  void* place;
  const std::vector<std::string>* names;
  OldName old_name;  // of a value, empty: none
  std::size_t (*index)(const void* place);
  void (*set)(void* place, std::size_t index);
};

/// A reference to a setting in Settings. Its type decides how it is parsed and printed.
using Field = std::variant<int*, std::uint64_t*, double*, bool*, std::string*, Numbers*,
                           ChoiceField>;

/// The numbers from low to high; an open end is excluded. For a list, the bounds of each
/// number.
struct Bounds {
  double low = 0;
  double high = std::numeric_limits<double>::infinity();
  bool low_open = false;
  bool high_open = false;
  std::string_view zero{};  // a word that stands for 0
};

using KnownList = std::vector<std::string> KnownNames::*;

/// The allowed values of a setting, besides its type.
using Rule = std::variant<std::monostate, Bounds, KnownList>;

/// The columns of settings_table.inc, which explains them, as bits.
using Columns = unsigned;
inline constexpr Columns kFree = 0, kBits = 1, kEpochs = 2, kSteps = 4, kMachine = 8,
                         kFiles = 16, kShown = 32, kCommand = 64;

struct Setting {
  std::string name;
  Field (*field)(Settings&);
  Rule rule;
  Columns columns;
  std::string help;
  std::string alias{};  // its former name, which still works; empty: none

  bool is(Columns column) const { return (columns & column) != 0; }
};

/// All settings, group by group.
std::span<const Setting> settings_table();

/// The setting of that name or alias, or nullptr.
const Setting* find_setting(std::string_view name);

/// The setting `group.name` if options of the group can be selected by `group=option`.
const Setting* find_option_setting(std::string_view group);

/// Whether the setting of that name is a list.
bool is_list(std::string_view name);

/// The group whose options are files only.
inline constexpr std::string_view kExperiment = "experiment";

/// Whether `name=option` selects an option: a group with options, or "experiment".
bool is_choice(std::string_view name);

/// The names of all settings that begin with `group` and a dot.
std::vector<std::string> settings_of_group(std::string_view group);

}  // namespace convoy
