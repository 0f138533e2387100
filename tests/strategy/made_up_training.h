// SPDX-License-Identifier: Apache-2.0
//
// Trains with a strategy on made-up gradients: the passes of a rank as a network would
// make them, without one.

#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "convoy/optimizer/clip_norm.h"
#include "convoy/optimizer/sgd.h"
#include "convoy/params/reduction_tree.h"
#include "convoy/strategy/registry.h"
#include "tests/comm/thread_ranks.h"
#include "tests/strategy/three_units.h"

namespace convoy {

inline constexpr std::uint32_t kSteps = 3;

/// How numbers are made up.
struct MadeUpNumbers {
  Dtype dtype = Dtype::fp32;  // of each, and of each sum
  /// The step and micro-batch that finds an infinite gradient; by default none.
  std::pair<std::uint32_t, std::size_t> infinite{~0u, 0};
};

/// What one micro-batch finds in one step, padding zero.
inline FlatBuffer found_by(std::uint32_t step, std::size_t microbatch,
                           const Layout& layout, const MadeUpNumbers& made_up = {}) {
  FlatBuffer found(layout);
  std::uint64_t random = 0x9E3779B97F4A7C15u * (1 + 100 * microbatch + step);
  for (const Segment& segment : layout.segments()) {
    for (std::size_t i = segment.range.begin; i < segment.range.end; ++i) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      found.data()[i] =
          static_cast<float>(static_cast<std::int32_t>(random >> 32)) * 0x1p-30f;
    }
  }
  if (made_up.infinite == std::pair(step, microbatch)) {
    found.data()[layout.segments().back().range.begin] = INFINITY;
  }
  round_in_place(made_up.dtype, found.data(), found.size());
  return found;
}

/// The sum over a sub-tree of micro-batches.
inline FlatBuffer sum_over(std::uint32_t step, Range microbatches, const Layout& layout,
                           const MadeUpNumbers& made_up = {}) {
  if (microbatches.size() == 1) {
    return found_by(step, microbatches.begin, layout, made_up);
  }
  const std::size_t middle = tree_split(microbatches);
  const FlatBuffer left = sum_over(step, {microbatches.begin, middle}, layout, made_up);
  FlatBuffer sum = sum_over(step, {middle, microbatches.end}, layout, made_up);
  std::ranges::transform(left.numbers(), sum.numbers(), sum.data(), std::plus<>());
  round_in_place(made_up.dtype, sum.data(), sum.size());
  return sum;
}

/// The partial sums of someone who has some of the micro-batches.
struct Partials {
  Partials(const Layout& layout, const MicrobatchPart& part)
      : layout(layout), subtrees(whole_subtrees(part)) {
    for (std::size_t i = 0; i < subtrees.size(); ++i) buffers.emplace_back(layout);
  }

  void fill(std::uint32_t step) {
    for (std::size_t i = 0; i < subtrees.size(); ++i) {
      std::ranges::copy(sum_over(step, subtrees[i], layout).numbers(), buffers[i].data());
    }
  }

  PartialSums sums(Dtype dtype = Dtype::fp32) {
    std::vector<FlatBuffer*> all;
    for (FlatBuffer& buffer : buffers) all.push_back(&buffer);
    return PartialSums(all, dtype);
  }

  const Layout& layout;
  std::vector<Range> subtrees;
  std::vector<FlatBuffer> buffers;
};

struct Ending {
  std::vector<float> values, statistics;
  std::uint64_t gradients_sent = 0;  // bytes
  LossScaleState loss_scale{};
};

struct MadeUpRun {
  std::string strategy{};
  std::size_t microbatches = 4;
  double longest = 1e9;  // gradient
  StrategyOptions options{.bucket_bytes = 100};
  std::vector<SegmentId> frozen{};
  Layout layout = three_units();
  MadeUpNumbers gradients{};
  /// Called before each event, such as "forward 1".
  std::function<void(const Comm&, const std::string&)> before{};
};

/// One rank that trains on made-up gradients of its micro-batches.
class MadeUpRank {
 public:
  MadeUpRank(const MadeUpRun& run, Comm& comm)
      : run_(run),
        comm_(comm),
        layout_(with_frozen(run)),
        order_(run.microbatches, comm.ranks(), deal_of(run.strategy, run.options)),
        part_(order_.microbatches_of(comm.rank())),
        found_(statistics_layout_, part_),
        sgd_(layout_, {.rate = 0.1f, .momentum = 0.9f}, team_),
        clip_(layout_, {.longest = run.longest}, team_),
        async_(comm),
        partials_(layout_, part_.is_in_turn() ? MicrobatchPart{} : part_),
        strategy_(make_strategy(run.strategy,
                                {layout_,
                                 statistics_layout_,
                                 values_,
                                 statistics_,
                                 partials_.sums(run.gradients.dtype),
                                 found_.sums(),
                                 {sgd_, &clip_, &scaler_}},
                                {comm, async_, order_}, run.options)) {}

  Ending train() {
    strategy_->begin();
    for (std::uint32_t step = 0; step < kSteps; ++step) {
      found_.fill(step);
      for (std::size_t i = 0; i < part_.passes(); ++i) {
        const bool is_own = i < part_.count();
        const std::size_t microbatch = is_own ? part_.number(i) : part_.microbatches;
        strategy_->begin_microbatch({microbatch, i + 1 == part_.passes()});
        forward();
        backward(gradients_of(step, i), i + 1 == part_.passes());
      }
      tell("step", step);
      strategy_->step();
    }
    gather_values();
    const std::span<const float> last = found_.buffers.back().numbers();
    return {{values_.numbers().begin(), values_.numbers().end()},
            {last.begin(), last.end()},
            gradients_sent(),
            scaler_.state()};
  }

 private:
  static Layout with_frozen(const MadeUpRun& run) {
    Layout layout = run.layout;
    layout.freeze(run.frozen);
    return layout;
  }

  void tell(const std::string& event, std::size_t number) {
    if (run_.before) run_.before(comm_, event + " " + std::to_string(number));
  }

  /// What the pass writes to the partial sums.
  std::vector<FlatBuffer> gradients_of(std::uint32_t step, std::size_t pass) const {
    std::vector<FlatBuffer> found;
    if (part_.is_in_turn()) {
      const bool is_own = pass < part_.count();
      found.push_back(is_own ? found_by(step, part_.number(pass), layout_, run_.gradients)
                             : FlatBuffer(layout_));
      return found;
    }
    if (pass + 1 < part_.passes()) return found;
    for (const Range& subtree : partials_.subtrees) {
      found.push_back(sum_over(step, subtree, layout_, run_.gradients));
    }
    return found;
  }

  void forward() {
    read_.clear();
    for (std::size_t unit = 0; unit < layout_.unit_count(); ++unit) {
      tell("forward", unit);
      strategy_->before_forward(UnitId{unit});
      const auto values = values_.view(layout_.unit(UnitId{unit}));
      read_.insert(read_.end(), values.begin(), values.end());
      strategy_->after_forward(UnitId{unit});
    }
  }

  void backward(const std::vector<FlatBuffer>& found, bool is_last) {
    bool is_trained = false;
    for (std::size_t unit = 0; unit < layout_.unit_count(); ++unit) {
      is_trained |= !layout_.trained_in(layout_.unit(UnitId{unit})).empty();
      if (is_trained) continue;
      first_trained_ = unit + 1;
    }
    for (std::size_t unit = layout_.unit_count(); unit-- > first_trained_;) {
      backward(UnitId{unit}, found, is_last);
    }
  }

  void backward(UnitId unit, const std::vector<FlatBuffer>& found, bool is_last) {
    tell("backward", static_cast<std::size_t>(unit));
    strategy_->before_backward(unit);
    const Range range = layout_.unit(unit);
    const auto values = values_.view(range);
    EXPECT_TRUE(
        std::ranges::equal(values, std::span(read_).subspan(range.begin, range.size())));
    for (const Range& trained : layout_.trained_in(range)) {
      for (std::size_t i = 0; i < found.size(); ++i) {
        std::ranges::copy(found[i].view(trained),
                          partials_.buffers[i].data() + trained.begin);
      }
    }
    for (std::size_t i = layout_.segments().size(); i-- > 0;) {
      const Segment& segment = layout_.segments()[i];
      if (is_last && segment.trained && segment.unit == unit) {
        strategy_->gradient_ready(SegmentId{i});
      }
    }
    strategy_->after_backward(unit);
  }

  void gather_values() {
    const ShardPlan* plan = strategy_->sharding().values;
    if (plan == nullptr) return;
    for (std::size_t i = 0; i < layout_.unit_count(); ++i) {
      const Range unit = layout_.unit(UnitId{i});
      comm_.all_gather_parts(values_.view(unit), plan->parts_in(UnitId{i}, unit));
    }
  }

  std::uint64_t gradients_sent() const {
    std::uint64_t bytes = 0;
    for (const Operation operation : {Operation::gather, Operation::scatter,
                                      Operation::reduce_scatter, Operation::all_reduce}) {
      bytes += comm_.traffic(operation).bytes_sent;
    }
    return bytes;
  }

  const MadeUpRun& run_;
  Comm& comm_;
  Layout layout_, statistics_layout_ = some_statistics();
  ReductionOrder order_;
  MicrobatchPart part_;
  FlatBuffer values_{layout_}, statistics_{statistics_layout_};
  Partials found_;
  ThreadTeam team_{1};
  Sgd sgd_;
  ClipNorm clip_;
  LossScaler scaler_{{.initial = 4, .growth_interval = 2}, team_};
  AsyncComm async_;
  Partials partials_;
  std::unique_ptr<Strategy> strategy_;
  std::vector<float> read_;  // by the pass
  std::size_t first_trained_ = 0;
};

inline Ending train(const MadeUpRun& run, Comm& comm) {
  return MadeUpRank(run, comm).train();
}

/// The same on one rank alone.
inline Ending train_alone(MadeUpRun run) {
  run.strategy = "single";
  Ending ending;
  run_ranks(1, [&](Comm& comm) { ending = train(run, comm); });
  return ending;
}

}  // namespace convoy
