// SPDX-License-Identifier: Apache-2.0

#include "convoy/params/reduction_tree.h"

#include <algorithm>

namespace convoy {
namespace {

void collect(Range tree, Range part, std::vector<Range>& found) {
  const bool apart = tree.end <= part.begin || part.end <= tree.begin;
  if (apart || tree.size() == 0) return;
  if (part.begin <= tree.begin && tree.end <= part.end) {
    found.push_back(tree);
    return;
  }
  const std::size_t middle = tree_split(tree);
  collect({tree.begin, middle}, part, found);
  collect({middle, tree.end}, part, found);
}

}  // namespace

std::vector<Range> whole_subtrees(std::size_t microbatches, Range part) {
  std::vector<Range> found;
  collect({0, microbatches}, part, found);
  return found;
}

std::vector<Range> whole_subtrees(const MicrobatchPart& part) {
  if (!part.is_in_turn()) return whole_subtrees(part.microbatches, part.own);
  std::vector<Range> found;
  for (std::size_t i = 0; i < part.count(); ++i) {
    found.push_back({part.number(i), part.number(i) + 1});
  }
  return found;
}

}  // namespace convoy
