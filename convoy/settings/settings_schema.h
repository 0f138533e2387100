// SPDX-License-Identifier: Apache-2.0
//
// The schema of the settings: what there is to set, for help, documents and tools.

#pragma once

#include <string>
#include <vector>

#include "convoy/settings/known_names.h"

namespace convoy {

enum class SettingKind {
  whole,    // a whole number
  number,   // any finite number
  numbers,  // a list of them
  truth,    // true or false
  text,     // UTF-8 without control characters
  choice    // one of some names
};

struct SettingInfo {
  std::string name;  // "train.epochs"
  SettingKind kind;
  std::string default_text;  // "6"; empty for an empty text
  std::string expected;      // "a whole number from 1"
  std::string help;          // one line, what it is
  std::string alias;         // the name it had before; empty: none
  std::string on_resume;     // whether a resumed run may change it
};

/// All settings, group by group. Without `names`, expected texts list no options.
std::vector<SettingInfo> settings_schema(const KnownNames& names = {});

/// All settings as a table of Markdown, for docs/settings.md.
std::string settings_markdown();

/// All groups with options and all settings as a table, for --help.
std::string settings_help(const KnownNames& names = {});

}  // namespace convoy
