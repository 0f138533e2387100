// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/lanes.h"

#include <algorithm>
#include <bit>

#include "convoy/base/error.h"
#include "convoy/network/add_to.h"

namespace convoy {
namespace {

/// Where the tree over `lanes` splits.
std::size_t split(Range lanes) { return lanes.begin + std::bit_floor(lanes.size() - 1); }

/// Forwards everything but gradient_ready: for passes whose gradients are not final.
class WithoutGradients : public PassListener {
 public:
  explicit WithoutGradients(PassListener& listener) : listener_(listener) {}

  void before_forward(UnitId unit) override { listener_.before_forward(unit); }
  void after_forward(UnitId unit) override { listener_.after_forward(unit); }
  void before_backward(UnitId unit) override { listener_.before_backward(unit); }

 protected:
  PassListener& listener_;
};

}  // namespace

/// Adds the sums of the lanes before to each segment as it is ready, then passes it on.
class Lanes::LastLane final : public WithoutGradients {
 public:
  LastLane(Lanes& lanes, FlatBuffer& gradients, PassListener& listener)
      : WithoutGradients(listener), lanes_(lanes), gradients_(gradients) {}

  void gradient_ready(SegmentId segment) override {
    const Range range = lanes_.layout_.segment(segment).range;
    // The last lane is the deepest leaf: the smallest sub-tree on its left comes first.
    for (std::size_t i = lanes_.spine_.size(); i-- > 0;) {
      lanes_.add(range, lanes_.spine_[i], gradients_);
    }
    listener_.gradient_ready(segment);
  }

 private:
  Lanes& lanes_;
  FlatBuffer& gradients_;
};

Lanes::Lanes(Network& network, const Layout& layout, std::size_t lanes, ThreadTeam& team)
    : network_(network),
      layout_(layout),
      lanes_(lanes),
      team_(team),
      statistics_sum_(network.batch_statistics().size()) {
  check(lanes >= 1, "a batch has at least one lane");
  for (Range left{0, lanes}; left.size() > 1; left.begin = split(left)) {
    spine_.emplace_back(layout);
  }
  // The largest left sub-tree has bit_floor(lanes - 1) leaves, a full binary tree.
  for (std::size_t leaves = lanes > 1 ? std::bit_floor(lanes - 1) : 1; leaves > 1;
       leaves /= 2) {
    sub_sums_.emplace_back(layout);
  }
}

LossSum Lanes::run(const Samples& batch, const FlatBuffer& values, const PassKey& key,
                   FlatBuffer& gradients, FlatBuffer& statistics,
                   PassListener& listener) {
  check(statistics.size() == statistics_sum_.size(), "statistics fit the network");
  const Step step{batch, values, key, listener};
  loss_ = {};
  Range left{0, lanes_};
  for (FlatBuffer& sum : spine_) {
    run_subtree(step, {left.begin, split(left)}, sum, 0);
    left.begin = split(left);
  }
  LastLane last(*this, gradients, listener);
  run_lane(step, left.begin, gradients, last);
  follow_statistics(statistics);
  return loss_;
}

/// Adds what the batch norms found in the lane that just ran, lane after lane.
void Lanes::add_statistics() {
  const std::span<const float> found = network_.batch_statistics().numbers();
  for (std::size_t i = 0; i < found.size(); ++i) statistics_sum_[i] += found[i];
  ++lanes_in_sum_;
}

void Lanes::follow_statistics(FlatBuffer& statistics) {
  const double part = 1.0 / static_cast<double>(lanes_in_sum_);
  for (std::size_t i = 0; i < statistics_sum_.size(); ++i) {
    const auto mean = static_cast<float>(statistics_sum_[i] * part);
    float& running = statistics.data()[i];
    running += kStatisticsRate * (mean - running);
  }
  std::ranges::fill(statistics_sum_, 0.0);
  lanes_in_sum_ = 0;
}

void Lanes::run_lane(const Step& step, std::size_t lane, FlatBuffer& gradients,
                     PassListener& listener) {
  const Samples samples = step.batch.part(even_part(step.batch.count(), lanes_, lane));
  PassKey key = step.key;
  key.lane += static_cast<std::uint32_t>(lane);
  loss_ += network_.forward(samples, step.values, key, listener);
  if (samples.count() > 0) add_statistics();
  const float scale = 1.0f / static_cast<float>(step.batch.count());
  network_.backward(scale, step.values, gradients, listener);
}

void Lanes::run_subtree(const Step& step, Range lanes, FlatBuffer& gradients,
                        std::size_t depth) {
  if (lanes.size() == 1) {
    WithoutGradients quiet(step.listener);
    run_lane(step, lanes.begin, gradients, quiet);
    return;
  }
  const std::size_t middle = split(lanes);
  run_subtree(step, {lanes.begin, middle}, sub_sums_[depth], depth + 1);
  run_subtree(step, {middle, lanes.end}, gradients, depth + 1);
  add({0, layout_.size()}, sub_sums_[depth], gradients);
}

/// right = left + right, elementwise.
void Lanes::add(Range range, const FlatBuffer& left, FlatBuffer& right) {
  add_to(team_, left.data() + range.begin, right.data() + range.begin, range.size());
}

}  // namespace convoy
