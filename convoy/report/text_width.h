// SPDX-License-Identifier: Apache-2.0
//
// The width of texts in a table.

#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace convoy {

inline constexpr std::size_t kTableColumns = 100;  // of the widest table

/// Returns the terminal columns: one per UTF-8 character.
inline std::size_t display_width(const std::string& text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

inline std::size_t widest(const std::vector<std::string>& texts) {
  std::size_t width = 0;
  for (const std::string& text : texts) width = std::max(width, display_width(text));
  return width;
}

}  // namespace convoy
