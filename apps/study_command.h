// SPDX-License-Identifier: Apache-2.0
//
// What the commands of studies share: flags, progress and result.

#pragma once

#include <memory>

#include "apps/commands.h"
#include "convoy/study/study_question.h"

namespace convoy {

struct StudyArguments {
  SettingArguments settings;
  bool dry_run = false, as_json = false;
};

/// Adds settings, -n, --jobs and the other flags that all studies have.
void add_study_flags(CLI::App& command, StudyArguments& arguments);

/// Adds a flag with a value that sets an option of the study (study_options.h).
void add_study_option(CLI::App& command, StudyArguments& arguments,
                      const std::string& flag, const std::string& option,
                      const std::string& help);

/// Plans the study, makes its runs and prints the result.
ExitCode make_study(StudyKind kind, const StudyArguments& arguments);

}  // namespace convoy
