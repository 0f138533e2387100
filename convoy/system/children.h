// SPDX-License-Identifier: Apache-2.0
//
// Children: child processes that end with this object, or with this process.

#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace convoy {

/// Requires: this process has no other threads, whose locks a child would inherit.
class Children {
 public:
  Children() = default;
  /// Kills those that have not ended.
  ~Children();
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;

  /// Runs the body in a child process, which fails if the body throws.
  void start(const std::function<void()>& body);

  /// Returns when all have ended, or when one has failed: its number, in order of
  /// start().
  std::optional<std::size_t> wait();

 private:
  std::vector<pid_t> running_;  // 0: ended
};

}  // namespace convoy
