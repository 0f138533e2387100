// SPDX-License-Identifier: Apache-2.0
//
// The log book: <run.dir>/logbook.md, to which every run appends an entry at its end.

#pragma once

#include <filesystem>
#include <string>

#include "convoy/compare/run_record.h"

namespace convoy {

/// Where a run's files are in object storage.
struct RunUploads {
  std::string place{};    // "s3://bucket/prefix/run"; empty: they were not uploaded
  std::string failure{};  // what is missing there, and why; empty: nothing
};

/// The entry of a run, as Markdown: validation and test metrics, times, memory, CPU
/// utilisation, batch size, and where the best checkpoint is. What is not known is left
/// out.
std::string logbook_entry(const RunRecord& run, const RunUploads& uploads);

/// Appends a run's entry to logbook.md in the folder that contains the run, complete or
/// not at all; several processes may do so at once. Throws a storage error.
void append_to_logbook(const std::filesystem::path& run, const RunUploads& uploads);

}  // namespace convoy
