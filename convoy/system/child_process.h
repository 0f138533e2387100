// SPDX-License-Identifier: Apache-2.0
//
// Process: runs another program to its end, without a shell.

#pragma once

#include <string>
#include <vector>

namespace convoy {

struct ProcessResult {
  int exit_code;       // 128 + the signal if a signal ended it
  std::string output;  // stdout and stderr, interleaved
};

/// Runs `command`, a program found on the PATH and its arguments, with empty input.
/// Throws InputError of kind `storage` if it cannot be started.
ProcessResult run_process(const std::vector<std::string>& command);

}  // namespace convoy
