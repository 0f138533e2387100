// SPDX-License-Identifier: Apache-2.0
//
// SettingAssignment: a setting as it is written in a file or on the command line.

#pragma once

#include <string>

namespace convoy {

/// A setting as written, not yet parsed.
struct SettingAssignment {
  std::string name;   // "train.epochs"
  std::string value;  // "6"
  std::string where;  // "run.yaml:3: train.epochs"
};

/// Parses "name=value" of the command line. Throws InputError.
SettingAssignment parse_assignment(const std::string& text);

}  // namespace convoy
