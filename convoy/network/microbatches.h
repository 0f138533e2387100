// SPDX-License-Identifier: Apache-2.0
//
// Microbatches: several slices of a batch, each computed in a pass of its own, whose
// gradients are added up.
//
// A batch is divided into micro-batches; each runs forward and backward alone, and their
// results are added along the reduction tree (params/reduction_tree.h), so that a sum
// depends on the number of micro-batches only, not on which rank computed which. A rank
// that has only some of a batch's micro-batches adds those that form whole sub-trees and
// keeps a few partial sums:
//
//            +               five micro-batches, of which one has 2, 3 and 4:
//          /   \.            two partial sums, (2+3) and 4
//         +     4
//       /   \.
//      +     +
//     0 1   2 3
//
// Gradients are added that way, and so are the moments that batch norms compute. If
// gradients are to be exchanged in 16 bits, each micro-batch's and every sum are rounded.
//
// To the listener, a step is one pass per micro-batch that is computed here, and
// begin_microbatch says which one follows. gradient_ready comes in the last pass only,
// when all partial sums of that segment are final. The statistics' sums are final before
// the first of them.
//
// If micro-batches are dealt to the ranks in turn (params/microbatch_part.h), nothing is
// added here: every pass overwrites the gradients, which the listener takes in
// after_backward, and each micro-batch keeps its statistics.

#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "convoy/network/network.h"
#include "convoy/params/microbatch_part.h"
#include "convoy/params/partial_sums.h"

namespace convoy {

/// The samples of the micro-batches that run here, and how many the whole batch has.
struct BatchShare {
  /// A batch that is all here.
  BatchShare(const Samples& all) : own(all), whole(all.count()) {}
  BatchShare(const Samples& own, std::size_t whole) : own(own), whole(whole) {}

  Samples own;
  std::size_t whole;
};

/// Updates running statistics by the mean of the statistics of `microbatches`
/// micro-batches, given their sum. It weighs as much as `momentum` says or, without it,
/// as each layer's own. Frozen statistics stay as they are.
void update_running_stats(const Layout& statistics, std::span<const float> sum,
                          std::size_t microbatches, FlatBuffer& running,
                          std::optional<float> momentum = {});

class Microbatches {
 public:
  /// Borrows everything but `part` for as long as it lives.
  Microbatches(Network& network, const Layout& layout, const MicrobatchPart& part,
               ThreadTeam& team, Dtype gradients = Dtype::fp32);

  /// The gradients of the next run()s are those of the loss times this.
  void scale_loss(double scale) { loss_scale_ = static_cast<float>(scale); }

  /// One pass over the own micro-batches of a batch: their part of the gradients of the
  /// whole batch's mean loss, overwriting. Returns the loss of their samples.
  /// `key.microbatch` is the number of the batch's first micro-batch.
  LossSum run(const BatchShare& batch, const FlatBuffer& values, const RngKey& key,
              PassListener& listener);

  /// As run(), but forward only: computes the batch norms' statistics with these values.
  void compute_batch_stats(const BatchShare& batch, const FlatBuffer& values,
                           const RngKey& key, PassListener& listener);

  /// The losses of the last run(), one per micro-batch.
  std::span<const LossSum> losses() const { return losses_; }

  const Layout& statistics_layout() const { return network_.statistics_layout(); }

  /// If micro-batches are dealt in turn, the gradients of the pass that runs: a strategy
  /// adds them up, pass by pass.
  PartialSums gradients();
  PartialSums batch_stats() { return sums(&MicrobatchSums::statistics, Dtype::fp32); }

  /// Updates the running statistics by the mean over all micro-batches of a batch.
  /// Requires: batch_stats().whole() is the sum over all of them.
  void update_running_stats(std::size_t batch, FlatBuffer& running,
                            std::optional<float> momentum = {}) const;

  /// Memory of all gradients.
  std::size_t gradient_bytes() const {
    const std::size_t partials = part_.is_in_turn() ? 1 : partials_.size();
    return (partials + spine_.size() + sub_sums_.size()) * layout_.trained_size() *
           sizeof(float);
  }

  /// How many buffers of gradients the sums of these micro-batches take.
  static std::size_t gradient_buffers(const MicrobatchPart& part);

  /// Samples of the longest micro-batch of a batch.
  static std::size_t most_samples(std::size_t batch, std::size_t microbatches) {
    return (batch + microbatches - 1) / microbatches;
  }

 private:
  class Leaf;
  class LastMicrobatch;

  /// Over some micro-batches.
  struct MicrobatchSums {
    FlatBuffer gradients, statistics;
  };

  struct Step {
    const BatchShare& batch;
    const FlatBuffer& values;
    RngKey key;
    PassListener& listener;
    bool backward = true;  // or forward alone
  };

  void run(const Step& step);
  void run_rounds(const Step& step);
  void reserve_buffers(const Layout& layout, const Layout& statistics);
  void reserve_rounds(const Layout& layout, const Layout& statistics);
  PartialSums sums(FlatBuffer MicrobatchSums::*kind, Dtype dtype);
  void run_subtree(const Step& step, Range microbatches, MicrobatchSums& sums,
                   std::size_t depth);
  void run_last_subtree(const Step& step);
  void forward_microbatch(const Step& step, std::size_t microbatch, FlatBuffer& found,
                          PassListener& listener);
  void backward_microbatch(const Step& step, FlatBuffer& gradients,
                           PassListener& listener);
  void add(Range range, const FlatBuffer& left, FlatBuffer& right);
  void add_gradients(Range range, const FlatBuffer& left, FlatBuffer& right);
  void round(Range range, FlatBuffer& gradients);

  Network& network_;
  const Layout& layout_;
  MicrobatchPart part_;
  ThreadTeam& team_;
  Dtype dtype_;  // of gradients and their sums
  float loss_scale_ = 1;
  std::vector<Range> subtrees_;           // the whole ones among the own micro-batches
  std::vector<MicrobatchSums> partials_;  // of each of them
  // Of the last subtree: sums of the left sub-trees on the way to its last micro-batch.
  std::vector<MicrobatchSums> spine_;
  std::vector<MicrobatchSums> sub_sums_;  // by depth inside any other sub-tree
  std::vector<LossSum> losses_;
};

}  // namespace convoy
