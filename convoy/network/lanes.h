// SPDX-License-Identifier: Apache-2.0
//
// Lanes: several slices of a batch, each computed on its own, as one voice.
//
// A batch is cut into lanes; each runs forward and backward alone, and their gradients
// are added along a binary tree over lane numbers, split at the largest power of two
// below the count. The sum therefore depends on the number of lanes only, not on who
// computed which:
//
//            +               five lanes: ((0+1)+(2+3)) + 4
//          /   \.
//         +     4
//       /   \.
//      +     +
//     0 1   2 3
//
// To whoever listens, a step is one pass whose units finish in order: gradient_ready
// comes in the last lane only, after the sums of the lanes before have been added.

#pragma once

#include <cstddef>
#include <vector>

#include "convoy/network/network.h"

namespace convoy {

class Lanes {
 public:
  /// Borrows everything for as long as it lives. Requires: lanes >= 1.
  Lanes(Network& network, const Layout& layout, std::size_t lanes, ThreadTeam& team);

  /// One pass over all lanes of a batch: gradients of its mean loss, overwriting. The
  /// running statistics follow the mean of what the lanes found, in lane order.
  /// `key.lane` is the number of the first lane.
  LossSum run(const Samples& batch, const FlatBuffer& values, const PassKey& key,
              FlatBuffer& gradients, FlatBuffer& statistics, PassListener& listener);

  /// Memory of gradients besides the caller's.
  std::size_t extra_bytes() const {
    return (spine_.size() + sub_sums_.size()) * layout_.size() * sizeof(float);
  }

  /// Samples of the longest lane of a batch.
  static std::size_t most_samples(std::size_t batch, std::size_t lanes) {
    return (batch + lanes - 1) / lanes;
  }

 private:
  class LastLane;

  struct Step {
    const Samples& batch;
    const FlatBuffer& values;
    PassKey key;
    PassListener& listener;
  };

  void run_lane(const Step& step, std::size_t lane, FlatBuffer& gradients,
                PassListener& listener);
  void run_subtree(const Step& step, Range lanes, FlatBuffer& gradients,
                   std::size_t depth);
  void add(Range range, const FlatBuffer& left, FlatBuffer& right);
  void add_statistics();
  void follow_statistics(FlatBuffer& statistics);

  Network& network_;
  const Layout& layout_;
  std::size_t lanes_;
  ThreadTeam& team_;
  std::vector<FlatBuffer>
      spine_;  // sums of the left sub-trees on the way to the last lane
  std::vector<FlatBuffer> sub_sums_;    // by depth inside a left sub-tree
  std::vector<double> statistics_sum_;  // over the lanes so far that had samples
  std::size_t lanes_in_sum_ = 0;
  LossSum loss_;
};

}  // namespace convoy
