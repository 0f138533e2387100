// SPDX-License-Identifier: Apache-2.0
//
// Reads metrics.jsonl and summary.json. Both are foreign: anything may be in them.

#pragma once

#include <filesystem>
#include <string>

#include "convoy/compare/run_record.h"

namespace convoy {

/// Throws InputError, naming the file and the field.
RunResult read_summary(const std::filesystem::path& path);

/// Adds epochs, evaluations and the last step to `run`. A line that cannot be read is a
/// problem of the run, and so is what follows the first 256 MiB; a last line without its
/// end is not. Returns the file's text. Throws InputError if the file cannot be read.
std::string read_metrics(const std::filesystem::path& path, RunRecord& run);

}  // namespace convoy
