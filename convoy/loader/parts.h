// SPDX-License-Identifier: Apache-2.0
//
// Parts: the samples of each of several workers. Parts may share samples without copying
// them.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "convoy/base/range.h"

namespace convoy {

class Parts {
 public:
  /// A single part.
  explicit Parts(std::vector<std::uint32_t> samples)
      : samples_(std::move(samples)), ranges_{{0, samples_.size()}} {}

  /// Part i is ranges[i] of `samples`. Requires: at least one range, each within the
  /// samples.
  Parts(std::vector<std::uint32_t> samples, std::vector<Range> ranges)
      : samples_(std::move(samples)), ranges_(std::move(ranges)) {}

  std::size_t count() const { return ranges_.size(); }

  std::span<const std::uint32_t> operator[](std::size_t part) const {
    return std::span(samples_).subspan(ranges_[part].begin, ranges_[part].size());
  }

  /// The total number of samples of all parts; shared samples count once per part.
  std::size_t samples() const {
    std::size_t sum = 0;
    for (const Range& range : ranges_) sum += range.size();
    return sum;
  }

  std::size_t shortest() const {
    return std::ranges::min(ranges_, {}, &Range::size).size();
  }
  std::size_t longest() const {
    return std::ranges::max(ranges_, {}, &Range::size).size();
  }

 private:
  std::vector<std::uint32_t> samples_;
  std::vector<Range> ranges_;
};

}  // namespace convoy
