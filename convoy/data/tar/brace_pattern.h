// SPDX-License-Identifier: Apache-2.0
//
// Brace patterns: names of shards, written as a shell does: "train-{000..099}.tar".

#pragma once

#include <string>
#include <vector>

namespace convoy {

/// Returns the names that a pattern stands for, in order: {000..099} for the numbers from
/// 0 to 99 with three digits, {0..99} for those without zeros before them, {a,b} for each
/// of a list. Several braces are combined, the last one changing first. `where` names the
/// setting. Throws InputError of kind `settings` for braces that are not closed or stand
/// inside others, for ranges that end before they begin, and for more than 100,000 names.
std::vector<std::string> expand_braces(const std::string& pattern,
                                       const std::string& where);

}  // namespace convoy
