// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/microbatches.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "convoy/base/error.h"
#include "convoy/network/add_to.h"
#include "convoy/params/reduction_tree.h"

namespace convoy {
namespace {

/// Levels below the root of a full binary tree.
std::size_t height(std::size_t leaves) {
  return static_cast<std::size_t>(std::bit_width(leaves) - 1);
}

struct BufferCounts {
  std::size_t partials, spine, sub_sums;
};

/// What is needed to add up the micro-batches of these sub-trees.
BufferCounts count_buffers(std::span<const Range> subtrees) {
  // All sub-trees that are run as such have as many leaves as a power of two.
  std::size_t most_leaves = 1, spine = 0;
  for (const Range& subtree : subtrees.first(subtrees.size() - 1)) {
    most_leaves = std::max(most_leaves, subtree.size());
  }
  for (Range left = subtrees.back(); left.size() > 1; left.begin = tree_split(left)) {
    ++spine;
    most_leaves = std::max(most_leaves, tree_split(left) - left.begin);
  }
  return {subtrees.size(), spine, height(most_leaves)};
}

}  // namespace

/// The pass of one micro-batch: rounds each gradient as it is ready, and forwards
/// everything but gradient_ready, for gradients that are not final.
class Microbatches::Leaf : public PassListener {
 public:
  Leaf(Microbatches& microbatches, FlatBuffer& gradients, PassListener& listener)
      : microbatches_(microbatches), gradients_(gradients), listener_(listener) {}

  void begin_microbatch(const MicrobatchPass& pass) override {
    listener_.begin_microbatch(pass);
  }
  void before_forward(UnitId unit) override { listener_.before_forward(unit); }
  void after_forward(UnitId unit) override { listener_.after_forward(unit); }
  void before_backward(UnitId unit) override { listener_.before_backward(unit); }
  void after_backward(UnitId unit) override { listener_.after_backward(unit); }
  void gradient_ready(SegmentId segment) override {
    microbatches_.round(microbatches_.layout_.segment(segment).range, gradients_);
  }

 protected:
  Microbatches& microbatches_;
  FlatBuffer& gradients_;
  PassListener& listener_;
};

/// Adds the sums of the micro-batches before to each segment as it is ready, then passes
/// it on.
class Microbatches::LastMicrobatch final : public Leaf {
 public:
  using Leaf::Leaf;

  void gradient_ready(SegmentId segment) override {
    Leaf::gradient_ready(segment);
    const Range range = microbatches_.layout_.segment(segment).range;
    // The last micro-batch is the deepest leaf: the smallest sub-tree on its left comes
    // first.
    for (std::size_t i = microbatches_.spine_.size(); i-- > 0;) {
      microbatches_.add_gradients(range, microbatches_.spine_[i].gradients, gradients_);
    }
    listener_.gradient_ready(segment);
  }
};

Microbatches::Microbatches(Network& network, const Layout& layout,
                           const MicrobatchPart& part, ThreadTeam& team, Dtype gradients)
    : network_(network),
      layout_(layout),
      part_(part),
      team_(team),
      dtype_(gradients),
      subtrees_(whole_subtrees(part)) {
  check(!subtrees_.empty(), "someone who runs micro-batches has at least one");
  if (part.is_in_turn()) {
    reserve_rounds(layout, network.statistics_layout());
  } else {
    reserve_buffers(layout, network.statistics_layout());
  }
  losses_.reserve(part.passes());
}

/// One buffer has the gradients of the pass that runs; each micro-batch has statistics of
/// its own.
void Microbatches::reserve_rounds(const Layout& layout, const Layout& statistics) {
  const Layout none;
  for (std::size_t i = 0; i < part_.count(); ++i) {
    partials_.push_back({FlatBuffer(i == 0 ? layout : none), FlatBuffer(statistics)});
  }
}

void Microbatches::reserve_buffers(const Layout& layout, const Layout& statistics) {
  const auto [partials, spine, sub_sums] = count_buffers(subtrees_);
  const auto fill = [&](std::vector<MicrobatchSums>& sums, std::size_t count) {
    sums.reserve(count);
    while (sums.size() < count)
      sums.push_back({FlatBuffer(layout), FlatBuffer(statistics)});
  };
  fill(partials_, partials);
  fill(spine_, spine);
  fill(sub_sums_, sub_sums);
}

std::size_t Microbatches::gradient_buffers(const MicrobatchPart& part) {
  if (part.is_in_turn()) return 1;
  const auto [partials, spine, sub_sums] = count_buffers(whole_subtrees(part));
  return partials + spine + sub_sums;
}

PartialSums Microbatches::gradients() {
  if (part_.is_in_turn()) return PartialSums({&partials_.front().gradients}, dtype_);
  return sums(&MicrobatchSums::gradients, dtype_);
}

PartialSums Microbatches::sums(FlatBuffer MicrobatchSums::*kind, Dtype dtype) {
  std::vector<FlatBuffer*> buffers;
  for (MicrobatchSums& partial : partials_) buffers.push_back(&(partial.*kind));
  return PartialSums(std::move(buffers), dtype);
}

LossSum Microbatches::run(const BatchShare& batch, const FlatBuffer& values,
                          const RngKey& key, PassListener& listener) {
  run({batch, values, key, listener});
  LossSum loss;
  for (const LossSum& of_microbatch : losses_) loss += of_microbatch;
  return loss;
}

void Microbatches::compute_batch_stats(const BatchShare& batch, const FlatBuffer& values,
                                       const RngKey& key, PassListener& listener) {
  run({batch, values, key, listener, /*backward=*/false});
}

void Microbatches::run(const Step& step) {
  check(part_.sample_count(step.batch.whole) == step.batch.own.count(),
        "a share has the samples of its micro-batches");
  losses_.clear();
  if (part_.is_in_turn()) return run_rounds(step);
  for (std::size_t i = 0; i + 1 < subtrees_.size(); ++i) {
    run_subtree(step, subtrees_[i], partials_[i], 0);
  }
  run_last_subtree(step);
}

/// Runs the own micro-batches one by one. A rank that has one less than others runs a
/// pass without samples, so that all ranks have the same events.
void Microbatches::run_rounds(const Step& step) {
  FlatBuffer& gradients = partials_.front().gradients;
  Leaf leaf(*this, gradients, step.listener);
  LastMicrobatch last(*this, gradients, step.listener);
  for (std::size_t round = 0; round < part_.passes(); ++round) {
    PassListener& listener = round + 1 < part_.passes() ? leaf : last;
    if (round < part_.count()) {
      forward_microbatch(step, part_.number(round), partials_[round].statistics,
                         listener);
    } else {
      listener.begin_microbatch({part_.microbatches, /*is_last=*/true});
      network_.forward(step.batch.own.part({0, 0}), step.values, step.key, listener);
    }
    backward_microbatch(step, gradients, listener);
  }
}

void Microbatches::run_last_subtree(const Step& step) {
  Range left = subtrees_.back();
  for (MicrobatchSums& sum : spine_) {
    run_subtree(step, {left.begin, tree_split(left)}, sum, 0);
    left.begin = tree_split(left);
  }
  auto& [gradients, statistics] = partials_.back();
  LastMicrobatch last(*this, gradients, step.listener);
  forward_microbatch(step, left.begin, statistics, last);
  for (std::size_t i = spine_.size(); i-- > 0;) {
    add({0, statistics.size()}, spine_[i].statistics, statistics);
  }
  backward_microbatch(step, gradients, last);
}

void Microbatches::run_subtree(const Step& step, Range microbatches, MicrobatchSums& sums,
                               std::size_t depth) {
  if (microbatches.size() == 1) {
    Leaf leaf(*this, sums.gradients, step.listener);
    forward_microbatch(step, microbatches.begin, sums.statistics, leaf);
    backward_microbatch(step, sums.gradients, leaf);
    return;
  }
  const std::size_t middle = tree_split(microbatches);
  MicrobatchSums& left = sub_sums_[depth];
  run_subtree(step, {microbatches.begin, middle}, left, depth + 1);
  run_subtree(step, {middle, microbatches.end}, sums, depth + 1);
  for (const Range& range : layout_.trained()) {
    if (step.backward) add_gradients(range, left.gradients, sums.gradients);
  }
  add({0, sums.statistics.size()}, left.statistics, sums.statistics);
}

/// `found` gets the batch norms' statistics of the micro-batch; nothing if it has no
/// samples.
void Microbatches::forward_microbatch(const Step& step, std::size_t microbatch,
                                      FlatBuffer& found, PassListener& listener) {
  const std::size_t before = (microbatch - part_.own.begin) / part_.stride;
  const std::size_t first = part_.samples_before(before, step.batch.whole);
  const Range samples = part_.samples_of(microbatch, step.batch.whole);
  listener.begin_microbatch({microbatch, before + 1 == part_.passes()});
  RngKey key = step.key;
  key.microbatch += static_cast<std::uint32_t>(microbatch);
  losses_.push_back(network_.forward(step.batch.own.part({first, first + samples.size()}),
                                     step.values, key, listener));
  if (samples.size() == 0) {
    std::fill_n(found.data(), found.size(), 0.0f);
  } else {
    std::ranges::copy(network_.batch_statistics().numbers(), found.data());
  }
}

void Microbatches::backward_microbatch(const Step& step, FlatBuffer& gradients,
                                       PassListener& listener) {
  if (!step.backward) return;
  const float scale = loss_scale_ / static_cast<float>(step.batch.whole);
  network_.backward(scale, step.values, gradients, listener);
}

void update_running_stats(const Layout& statistics, std::span<const float> sum,
                          std::size_t microbatches, FlatBuffer& running,
                          std::optional<float> momentum) {
  check(running.size() == sum.size(), "statistics fit the network");
  const double part = 1.0 / static_cast<double>(microbatches);
  for (const Segment& segment : statistics.segments()) {
    if (!segment.trained) continue;
    const float rate = momentum.value_or(segment.momentum);
    for (std::size_t i = segment.range.begin; i < segment.range.end; ++i) {
      const auto mean = static_cast<float>(sum[i] * part);
      if (!std::isfinite(mean)) continue;  // overflowed: it would stay for good
      running.data()[i] += rate * (mean - running.data()[i]);
    }
  }
}

void Microbatches::update_running_stats(std::size_t batch, FlatBuffer& running,
                                        std::optional<float> momentum) const {
  convoy::update_running_stats(network_.statistics_layout(),
                               partials_.back().statistics.numbers(),
                               std::min(batch, part_.microbatches), running, momentum);
}

/// right = left + right, elementwise.
void Microbatches::add(Range range, const FlatBuffer& left, FlatBuffer& right) {
  add_to(team_, left.data() + range.begin, right.data() + range.begin, range.size());
}

/// As add(), in the type of the gradients.
void Microbatches::add_gradients(Range range, const FlatBuffer& left, FlatBuffer& right) {
  add(range, left, right);
  round(range, right);
}

void Microbatches::round(Range range, FlatBuffer& gradients) {
  if (dtype_ == Dtype::fp32) return;
  constexpr std::size_t kChunk = 16 << 10;
  team_.run((range.size() + kChunk - 1) / kChunk, [&](std::size_t chunk, int) {
    const std::size_t begin = range.begin + chunk * kChunk;
    round_in_place(dtype_, gradients.data() + begin, std::min(kChunk, range.end - begin));
  });
}

}  // namespace convoy
