// SPDX-License-Identifier: Apache-2.0
//
// RunLog: receives the messages of a run. The library prints nothing; the application
// decides what is printed.

#pragma once

#include <filesystem>
#include <string>

namespace convoy {

class Progress;
struct Outcome;

class RunLog {
 public:
  virtual ~RunLog() = default;

  /// Called if another launcher has started the ranks, with their placement.
  virtual void launched(const std::string& placement) = 0;

  /// The run is planned, and about to train in that folder. First rank only.
  virtual void planned(const std::string& plan, const std::filesystem::path& folder) = 0;

  /// Returns the progress of this rank, valid as long as the log lives; nullptr: none.
  virtual Progress* progress(bool is_first_rank) = 0;

  /// A problem that does not end the run.
  virtual void warn(const std::string& text) = 0;

  /// The run is over. First rank only.
  virtual void ended(const Outcome& outcome, const std::filesystem::path& folder) = 0;
};

}  // namespace convoy
