// SPDX-License-Identifier: Apache-2.0
//
// Report: the page of one run or several, as a file.

#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace convoy {

inline constexpr const char* kReportFile = "report.html";

struct ReportRequest {
  std::vector<std::filesystem::path> runs;  // run folders, or folders that contain runs
  std::filesystem::path out{};              // empty: report.html in the first of them
  std::filesystem::path pictures{};         // a folder for pictures; empty: none
  bool ended = false;  // the runs have ended, although the caller still has their lock
};

struct WrittenReport {
  std::filesystem::path page;
  std::vector<std::string> pictures;
};

/// Writes the page, complete or not at all, and pictures of its charts if they are wanted
/// and gnuplot is installed. Throws InputError if there is no run, or if a file cannot be
/// written.
WrittenReport write_report(const ReportRequest& request);

}  // namespace convoy
