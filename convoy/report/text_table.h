// SPDX-License-Identifier: Apache-2.0
//
// A table of texts: aligned for a terminal, or as Markdown.

#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace convoy {

/// Requires: all columns of a table have as many cells.
struct TextColumn {
  std::string head;
  std::vector<std::string> cells;
  bool left = false;  // aligned left; numbers are aligned right
};

/// The table, no wider than `width` if its columns allow it: those that do not fit follow
/// below, as another table that begins with the first column again. Texts pass
/// displayable(); those of the first column are cut to half the width.
std::string text_table(const std::vector<TextColumn>& columns, std::size_t width);

/// The table in Markdown.
std::string markdown_table(const std::vector<TextColumn>& columns);

}  // namespace convoy
