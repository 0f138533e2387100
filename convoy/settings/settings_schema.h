// SPDX-License-Identifier: Apache-2.0
//
// The schema of the settings, for help, documentation and tools.

#pragma once

#include <string>
#include <vector>

#include "convoy/settings/known_names.h"

namespace convoy {

enum class SettingKind {
  whole,    // a whole number
  number,   // any finite number
  numbers,  // a list of numbers
  truth,    // true or false
  text,     // UTF-8 without control characters
  choice    // one of several names
};

struct SettingInfo {
  std::string name;  // "train.epochs"
  SettingKind kind;
  std::string default_text;  // "6"; empty for an empty text
  std::string expected;      // "a whole number from 1"
  std::string help;          // one line
  std::string alias;         // its former name; empty: none
  std::string on_resume;     // whether a resumed run may change it
};

/// All settings, group by group. Without `names`, `expected` lists no options.
std::vector<SettingInfo> settings_schema(const KnownNames& names = {});

/// All settings as a Markdown table, for docs/settings.md.
std::string settings_markdown();

/// All groups with options and all settings as a table, for --help.
std::string settings_help(const KnownNames& names = {});

}  // namespace convoy
