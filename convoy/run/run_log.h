// SPDX-License-Identifier: Apache-2.0
//
// RunLog: where a run reports to. The library prints nothing; whoever starts a run
// decides what people see of it.

#pragma once

#include <filesystem>
#include <string>

namespace convoy {

class Progress;
struct Outcome;

class RunLog {
 public:
  virtual ~RunLog() = default;

  /// Another launcher than ours has started the ranks, so.
  virtual void launched(const std::string& placement) = 0;

  /// The run is planned, and about to train in that folder. First rank only.
  virtual void planned(const std::string& plan, const std::filesystem::path& folder) = 0;

  /// Takes the progress of this rank for as long as the log lives; nullptr: nothing does.
  virtual Progress* progress(bool is_first_rank) = 0;

  /// Something went wrong that does not end the run.
  virtual void warn(const std::string& text) = 0;

  /// The run is over. First rank only.
  virtual void ended(const Outcome& outcome, const std::filesystem::path& folder) = 0;
};

}  // namespace convoy
