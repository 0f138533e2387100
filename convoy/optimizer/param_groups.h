// SPDX-License-Identifier: Apache-2.0
//
// ParamGroups: ranges of the flat buffer with their weight decay and learning rate.
//
// Neighbouring segments with the same options form one group, including padding, so that
// loops over elements are as long as possible:
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

/// Elements per task: a few arrays of this length fit into the L2 cache.
inline constexpr std::size_t kOptimizerChunk = 16 << 10;

/// Calls work(range) for chunks of `range`, on all threads.
template <class Work>
void run_chunks(ThreadTeam& team, Range range, const Work& work) {
  const std::size_t chunks = (range.size() + kOptimizerChunk - 1) / kOptimizerChunk;
  team.run(chunks, [&](std::size_t chunk, int) {
    const std::size_t begin = range.begin + chunk * kOptimizerChunk;
    work(Range{begin, std::min(range.end, begin + kOptimizerChunk)});
  });
}

/// What a segment has instead of, or besides, the options of all.
struct SegmentRule {
  double rate_factor = 1;                // of the learning rate, besides other factors
  std::optional<double> weight_decay{};  // instead of that of its role

  bool operator==(const SegmentRule&) const = default;
};

/// Optimizer options that differ between parameters.
struct ParameterOptions {
  float weight_decay = 0;
  bool decay_only_weights = false;  // no weight decay for biases and norms
  /// Factor of the learning rate of biases, including those of norms.
  float bias_rate_factor = 1;
  std::vector<SegmentRule> rules{};  // by segment; empty: none has a rule of its own
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
  /// order. Frozen segments are skipped.
  template <class Work>
  void visit(Range range, const Work& work) const {
    auto group = std::ranges::upper_bound(groups_, range.begin, {}, &ParamGroup::end);
    for (std::size_t begin = range.begin; begin < range.end; ++group) {
      const std::size_t end = std::min(range.end, group->end);
      if (!group->options.frozen) work(Range{begin, end}, group->options);
      begin = end;
    }
  }

 private:
  struct ParamGroup {
    std::size_t end;  // it begins at the end of the previous group
    GroupOptions options;
  };

  std::vector<ParamGroup> groups_;
};

}  // namespace convoy
