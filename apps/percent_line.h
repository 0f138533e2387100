// SPDX-License-Identifier: Apache-2.0
//
// PercentLine: how much of a command's work is done. On a terminal it is one line that is
// redrawn; elsewhere a line every ten seconds.

#pragma once

#include <string>

#include "convoy/base/clock.h"

namespace convoy {

class PercentLine {
 public:
  /// `columns`: of the terminal; 0: not a terminal.
  PercentLine(std::string what, int columns);
  ~PercentLine() { finish(); }
  PercentLine(const PercentLine&) = delete;
  PercentLine& operator=(const PercentLine&) = delete;

  /// Shows the part that is done, 0 .. 1, if that is due.
  void update(double part);

  /// Removes the line from the terminal.
  void finish();

 private:
  std::string what_;
  int columns_;
  Stopwatch since_begin_, since_shown_;
  bool drawn_ = false;
};

}  // namespace convoy
