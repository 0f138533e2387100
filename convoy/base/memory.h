// SPDX-License-Identifier: Apache-2.0
//
// Memory: how much there is for this process.

#pragma once

#include <cstddef>
#include <cstdint>

namespace convoy {

/// Bytes that can be had without swapping: what the kernel says is available, or what the
/// control group still allows if that is less. Everything, if neither is known.
std::uint64_t available_memory_bytes();

/// Asks the system for large pages for memory that begins and ends at their borders. Many
/// streams through much memory then miss no translation. Without them all works the same.
void prefer_large_pages(void* memory, std::size_t bytes);
inline constexpr std::size_t kLargePage = std::size_t{2} << 20;

/// What this process has in memory now; 0 if the system does not say.
std::uint64_t resident_memory_bytes();

/// The most this process has had so far.
std::uint64_t peak_memory_bytes();

}  // namespace convoy
