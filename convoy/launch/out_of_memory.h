// SPDX-License-Identifier: Apache-2.0
//
// OutOfMemory: detects that the kernel has killed processes because of a lack of memory.

#pragma once

#include <cstdint>

namespace convoy {

class OutOfMemoryWatch {
 public:
  /// Records the count so far.
  OutOfMemoryWatch();

  /// Whether the count has increased since: that of this process's control group, or of
  /// the whole machine if the group has no counter.
  bool has_struck() const;

 private:
  std::uint64_t before_;
};

}  // namespace convoy
