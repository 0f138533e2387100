// SPDX-License-Identifier: Apache-2.0
//
// Control groups: the memory that a container or a batch system allows, by version 1 and
// 2 of the kernel's interface. A limit of a group holds for everything below it, so the
// group of this process and all groups above it count.

#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>

namespace convoy {

inline constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

/// Bytes; kNoLimit where nothing is limited or known.
struct GroupMemory {
  std::uint64_t limit = kNoLimit;      // the least limit
  std::uint64_t available = kNoLimit;  // the least that a group has left
};

/// Reads the groups of this process below a root folder, which is "/" but in tests.
GroupMemory group_memory(const std::filesystem::path& root = "/");

}  // namespace convoy
