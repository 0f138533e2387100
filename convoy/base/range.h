// SPDX-License-Identifier: Apache-2.0
//
// Range: a half-open interval of a flat buffer, in elements.

#pragma once

#include <algorithm>
#include <cstddef>

namespace convoy {

struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;

  std::size_t size() const { return end - begin; }
  bool operator==(const Range&) const = default;
};

/// Returns part `index` of `parts` nearly equal parts of `count` items; earlier parts are
/// longer.
inline Range even_part(std::size_t count, std::size_t parts, std::size_t index) {
  const std::size_t base = count / parts;
  const std::size_t longer = count % parts;
  const std::size_t begin = index * base + std::min(index, longer);
  return {begin, begin + base + (index < longer ? 1 : 0)};
}

inline std::size_t round_up(std::size_t value, std::size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace convoy
