// SPDX-License-Identifier: Apache-2.0
//
// The settings of a command that resumes a run: the run's own, overridden by the command
// line.

#pragma once

#include <string>
#include <vector>

#include "convoy/setup/setting_arguments.h"

namespace convoy {

struct ResumedSettings {
  Settings settings;                  // train.resume is an existing folder, or empty
  std::vector<std::string> notes;     // for people
  std::vector<std::string> warnings;  // old names of settings, damaged checkpoints
};

/// Throws InputError if there is nothing to resume from, or a change leads to other bits.
ResumedSettings resume_settings(const SettingArguments& arguments);

}  // namespace convoy
