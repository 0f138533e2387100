// SPDX-License-Identifier: Apache-2.0
//
// Report: the page of one run or several, as a file.

#pragma once

#include <filesystem>
#include <vector>

namespace convoy {

struct ReportRequest {
  std::vector<std::filesystem::path> runs;  // run folders, or folders that contain runs
  std::filesystem::path out{};              // empty: report.html in the first of them
};

/// Writes the page, complete or not at all, and returns its path. Throws InputError if
/// there is no run, or if the file cannot be written.
std::filesystem::path write_report(const ReportRequest& request);

}  // namespace convoy
