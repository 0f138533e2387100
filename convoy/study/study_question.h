// SPDX-License-Identifier: Apache-2.0
//
// StudyQuestion: what the command line of a study asks: which settings vary, which are
// the same in all runs, and how the study is made.
//
//   convoy sweep sweep=async_delays train.epochs=1 optimizer.momentum=0,0.9
//
// A file under configs/sweep has the same content as a command line, in YAML. What is on
// the command line replaces what the file says about the same name.

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "convoy/settings/settings_resolve.h"
#include "convoy/study/study_options.h"
#include "convoy/study/study_space.h"

namespace convoy {

enum class StudyKind { sweep, kfold };

/// "sweep", "kfold": the command.
std::string name_of(StudyKind kind);

struct StudyRequest {
  StudyKind kind = StudyKind::sweep;
  std::vector<std::string> assignments{};      // "name=values"
  std::vector<std::filesystem::path> files{};  // given by --config
};

struct StudyQuestion {
  StudyKind kind = StudyKind::sweep;
  std::string file{};  // name of the file under configs/sweep, without folder and ending
  StudyOptions options{};
  std::vector<SettingAssignment> fixed{};    // settings of all runs
  std::vector<StudyDimension> dimensions{};  // settings that vary
  std::vector<std::filesystem::path> files{};
};

/// Throws InputError for a file that cannot be read, a value that is not in the grammar
/// (sweep_values.h), a setting that cannot vary, and a sweep in which none does. Other
/// names and values of settings are not checked yet.
StudyQuestion read_question(const StudyRequest& request, const SettingsContext& context);

}  // namespace convoy
