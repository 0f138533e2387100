// SPDX-License-Identifier: Apache-2.0
//
// OutOfMemory: whether the kernel has killed processes for want of memory.

#pragma once

#include <cstdint>

namespace convoy {

class OutOfMemoryWatch {
 public:
  /// Notes how often it has happened so far.
  OutOfMemoryWatch();

  /// Whether it has happened since: in this process's control group, or anywhere on the
  /// machine where the group does not count.
  bool has_struck() const;

 private:
  std::uint64_t before_;
};

}  // namespace convoy
