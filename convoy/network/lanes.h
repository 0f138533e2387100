// SPDX-License-Identifier: Apache-2.0
//
// Lanes: several slices of a batch, each computed on its own, as one voice.
//
// A batch is cut into lanes; each runs forward and backward alone, and what they give is
// added along the lane tree (base/lane_tree.h), so that a sum depends on the number of
// lanes only, not on who computed which. Whoever has only some of a batch's lanes adds
// what lies in whole sub-trees and is left with a few partial sums:
//
//            +               five lanes, of which one has 2, 3 and 4:
//          /   \.            two partial sums, (2+3) and 4
//         +     4
//       /   \.
//      +     +
//     0 1   2 3
//
// Gradients are added that way, and so are the moments that batch norms found.
//
// To whoever listens, a step is one pass whose units finish in order: gradient_ready
// comes in the last lane only, when all partial sums of that segment are final. The
// statistics' sums are final before the first of them.

#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "convoy/base/lane_part.h"
#include "convoy/network/network.h"
#include "convoy/params/partial_sums.h"

namespace convoy {

/// The samples of the lanes that run here, and how many the whole batch has.
struct BatchShare {
  /// A batch that is all here.
  BatchShare(const Samples& all) : own(all), whole(all.count()) {}
  BatchShare(const Samples& own, std::size_t whole) : own(own), whole(whole) {}

  Samples own;
  std::size_t whole;
};

/// Has running statistics follow the mean of what so many lanes found, given the sum.
void follow_statistics(std::span<const float> sum, std::size_t lanes,
                       std::span<float> running, float rate = kStatisticsRate);

class Lanes {
 public:
  /// Borrows everything but `part` for as long as it lives.
  Lanes(Network& network, const Layout& layout, const LanePart& part, ThreadTeam& team);

  /// One pass over the own lanes of a batch: their part of the gradients of the whole
  /// batch's mean loss, overwriting. Returns the loss of their samples. `key.lane` is the
  /// number of the batch's first lane.
  LossSum run(const BatchShare& batch, const FlatBuffer& values, const PassKey& key,
              PassListener& listener);

  /// As run(), but forward only: what batch norms find with these values.
  void find_statistics(const BatchShare& batch, const FlatBuffer& values,
                       const PassKey& key, PassListener& listener);

  /// Of the last run(), lane by lane.
  std::span<const LossSum> losses() const { return losses_; }

  PartialSums gradients() { return sums(&LaneSums::gradients); }
  PartialSums found_statistics() { return sums(&LaneSums::statistics); }

  /// Has the running statistics follow the mean of what all lanes of a batch found.
  /// Requires: found_statistics().whole() is the sum over all of them.
  void follow_statistics(std::size_t batch, FlatBuffer& running,
                         float rate = kStatisticsRate) const;

  /// Memory of all gradients.
  std::size_t gradient_bytes() const {
    return (partials_.size() + spine_.size() + sub_sums_.size()) * layout_.size() *
           sizeof(float);
  }

  /// Samples of the longest lane of a batch.
  static std::size_t most_samples(std::size_t batch, std::size_t lanes) {
    return (batch + lanes - 1) / lanes;
  }

 private:
  class LastLane;

  /// Over some lanes.
  struct LaneSums {
    FlatBuffer gradients, statistics;
  };

  struct Step {
    const BatchShare& batch;
    const FlatBuffer& values;
    PassKey key;
    PassListener& listener;
    bool backward = true;  // or forward alone
  };

  void run(const Step& step);
  void reserve_buffers(const Layout& layout, const Layout& statistics);
  PartialSums sums(FlatBuffer LaneSums::*kind);
  void run_subtree(const Step& step, Range lanes, LaneSums& sums, std::size_t depth);
  void run_last_subtree(const Step& step);
  void forward_lane(const Step& step, std::size_t lane, FlatBuffer& found,
                    PassListener& listener);
  void backward_lane(const Step& step, FlatBuffer& gradients, PassListener& listener);
  void add(Range range, const FlatBuffer& left, FlatBuffer& right);

  Network& network_;
  const Layout& layout_;
  LanePart part_;
  ThreadTeam& team_;
  std::vector<Range> subtrees_;     // the whole ones among the own lanes
  std::vector<LaneSums> partials_;  // of each of them
  // Of the last subtree: sums of the left sub-trees on the way to its last lane.
  std::vector<LaneSums> spine_;
  std::vector<LaneSums> sub_sums_;  // by depth inside any other sub-tree
  std::vector<LossSum> losses_;
};

}  // namespace convoy
