// SPDX-License-Identifier: Apache-2.0
//
// Process: runs another program to its end, without a shell.

#pragma once

#include <limits>
#include <string>
#include <vector>

namespace convoy {

struct ProcessResult {
  int exit_code;           // 128 + the signal if a signal ended it
  std::string output;      // stdout and stderr, interleaved
  bool timed_out = false;  // it was killed because it took too long
};

/// Runs `command`, a program found on the PATH and its arguments, with empty input; for
/// at most that many seconds. Throws InputError of kind `storage` if it cannot be
/// started.
ProcessResult run_process(const std::vector<std::string>& command,
                          double most_seconds = std::numeric_limits<double>::infinity());

}  // namespace convoy
