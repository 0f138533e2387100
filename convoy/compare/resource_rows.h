// SPDX-License-Identifier: Apache-2.0
//
// Reads resources.csv: what every rank used, about once per second.

#pragma once

#include <filesystem>
#include <vector>

namespace convoy {

struct RecordedResources {
  double time = 0;         // seconds since 1970
  double rank = 0;         // as it stands in the file, which is foreign: any number
  double cpu_percent = 0;  // of one core, in user and in system mode
  double resident_bytes = 0;
  double sent_bytes = 0, received_bytes = 0;  // since the process began
};

/// The rows that have all these numbers, in the order of the file. None if the file is
/// not there or cannot be read.
std::vector<RecordedResources> read_resource_rows(const std::filesystem::path& path);

}  // namespace convoy
