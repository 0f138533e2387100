// SPDX-License-Identifier: Apache-2.0
//
// Huge pages: passes over large buffers cause fewer TLB misses.

#pragma once

#include <sys/mman.h>

#include <cstddef>

namespace convoy {

inline constexpr std::size_t kLargePage = std::size_t{2} << 20;

/// Asks the system for huge pages for memory that is aligned to them. If there are none,
/// nothing else changes.
inline void prefer_large_pages([[maybe_unused]] void* memory,
                               [[maybe_unused]] std::size_t bytes) {
#ifdef MADV_HUGEPAGE
  madvise(memory, bytes, MADV_HUGEPAGE);
#endif
}

}  // namespace convoy
