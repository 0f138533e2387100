// SPDX-License-Identifier: Apache-2.0
//
// ParamGroups: which ranges of the flat buffer have which weight decay and learning rate.
//
// Neighbouring segments with the same options are one group, padding included, so that a
// loop over numbers is as long as possible:
//
//   | a.weight  a.bias | b.weight | b.bias padding | c.weight      segments
//   |     decays       |  frozen  |          decays                groups

#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "convoy/base/range.h"
#include "convoy/params/layout.h"
#include "convoy/system/thread_team.h"

namespace convoy {

/// Elements of one task: a few streams of this length fit the second-level cache.
inline constexpr std::size_t kOptimizerChunk = 16 << 10;

/// Calls work(range) for `range` cut into chunks, on all threads.
template <class Work>
void run_chunks(ThreadTeam& team, Range range, const Work& work) {
  const std::size_t chunks = (range.size() + kOptimizerChunk - 1) / kOptimizerChunk;
  team.run(chunks, [&](std::size_t chunk, int) {
    const std::size_t begin = range.begin + chunk * kOptimizerChunk;
    work(Range{begin, std::min(range.end, begin + kOptimizerChunk)});
  });
}

/// What an optimizer does differently from parameter to parameter.
struct ParameterOptions {
  float weight_decay = 0;
  bool decay_only_weights = false;    // biases and norms do not decay
  float bias_rate_factor = 1;         // multiplies the rate of biases and norms' shifts
  std::optional<SegmentId> frozen{};  // keeps its values
};

/// How a group is updated.
struct GroupOptions {
  float weight_decay = 0;
  float rate_factor = 1;
  bool frozen = false;

  bool operator==(const GroupOptions&) const = default;
};

class ParamGroups {
 public:
  ParamGroups(const Layout& layout, const ParameterOptions& options);

  /// Calls work(part, options) for each part of `range` that belongs to one group, in
  /// order. Frozen segments are left out.
  template <class Work>
  void visit(Range range, const Work& work) const {
    auto stretch =
        std::ranges::upper_bound(stretches_, range.begin, {}, &ParamGroup::end);
    for (std::size_t begin = range.begin; begin < range.end; ++stretch) {
      const std::size_t end = std::min(range.end, stretch->end);
      if (!stretch->manner.frozen) work(Range{begin, end}, stretch->manner);
      begin = end;
    }
  }

 private:
  struct ParamGroup {
    std::size_t end;  // it begins where the one before ends
    GroupOptions manner;
  };

  std::vector<ParamGroup> stretches_;
};

}  // namespace convoy
