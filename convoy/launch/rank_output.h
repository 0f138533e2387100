// SPDX-License-Identifier: Apache-2.0
//
// RankOutput: passes what one rank prints to the console and to its log, and keeps the
// last lines for the report if it dies.

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
  /// Borrows the console. `name` prefixes the lines there, except those of rank 0.
  RankOutput(int rank, Console& console, const std::string& name);
  RankOutput(int rank, Console& console);  // "rank N"

  /// Reads what is available. Returns false when the rank has closed the stream.
  bool read(Stream stream, int file);

  /// Ends a line that has no newline yet.
  void finish();

  /// From now on lines are also written to <folder>/rank-N.log, including earlier ones.
  void log_to(const std::filesystem::path& folder);

  /// Returns at most that many lines, the newest last.
  std::vector<std::string> last_lines(std::size_t most) const;

 private:
  void add(Stream stream, std::string_view bytes);
  void take_lines(Stream stream);
  void add_line(Stream stream, std::string_view line);
  void write_log(std::string_view line);
  bool passes_through(Stream stream) const;

  int rank_;
  Console& console_;
  std::string prefix_;    // of its lines; empty for rank 0
  std::string begun_[2];  // by stream: a line without its end yet
  std::deque<std::string> last_;
  std::string unlogged_;  // lines from before there was a file
  Descriptor log_;
};

}  // namespace convoy
