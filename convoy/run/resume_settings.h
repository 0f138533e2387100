// SPDX-License-Identifier: Apache-2.0
//
// The settings of a command that goes on with a run: the run's own, and over them what
// the command line says.

#pragma once

#include <string>
#include <vector>

#include "convoy/setup/setting_arguments.h"

namespace convoy {

struct ResumedSettings {
  Settings settings;                  // train.resume is a folder that is there, or empty
  std::vector<std::string> notes;     // what a person should know of it
  std::vector<std::string> warnings;  // old names of settings, damaged checkpoints
};

/// Throws InputError if there is nothing to go on from, or the changes lead to other
/// bits.
ResumedSettings resume_settings(const SettingArguments& arguments);

}  // namespace convoy
