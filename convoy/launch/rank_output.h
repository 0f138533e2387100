// SPDX-License-Identifier: Apache-2.0
//
// RankOutput: what one rank prints: to the console, to its log, and the last lines kept
// for the day it dies.

#pragma once

#include <deque>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "convoy/launch/console.h"
#include "convoy/system/descriptor.h"

namespace convoy {

class RankOutput {
 public:
  /// Borrows the console. `name` stands before the lines there, but for rank 0's.
  RankOutput(int rank, Console& console, const std::string& name);
  RankOutput(int rank, Console& console);  // "rank N"

  /// Reads what there is. False when the rank has closed the stream.
  bool read(Stream stream, int file);

  /// What was begun without a newline becomes a line.
  void finish();

  /// From now on lines are also in <folder>/rank-N.log, those of before included.
  void log_to(const std::filesystem::path& folder);

  /// At most that many, the newest last.
  std::vector<std::string> last_lines(std::size_t most) const;

 private:
  void add(Stream stream, std::string_view bytes);
  void take_lines(Stream stream);
  void add_line(Stream stream, std::string_view line);
  void write_log(std::string_view line);
  bool passes_through(Stream stream) const;

  int rank_;
  Console& console_;
  std::string prefix_;    // of its lines; rank 0 has none
  std::string begun_[2];  // by stream, a line that has no end yet
  std::deque<std::string> last_;
  std::string unlogged_;  // before there is a file
  Descriptor log_;
};

}  // namespace convoy
