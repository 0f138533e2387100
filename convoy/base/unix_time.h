// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>

namespace convoy {

/// Returns the seconds since 1970, by the system clock.
inline double unix_seconds() {
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since_1970).count();
}

}  // namespace convoy
