// SPDX-License-Identifier: Apache-2.0
//
// TrainingRig: what one process needs to train a model: threads, values, running
// statistics, optimizer, clipping, network and micro-batches.
//
// Not every process needs everything. A parameter server updates values and computes no
// gradients; its worker computes gradients and updates nothing; a rank, a simulation and
// a benchmark do both.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "convoy/network/microbatches.h"
#include "convoy/network/model.h"
#include "convoy/network/network.h"
#include "convoy/optimizer/clip_norm.h"
#include "convoy/optimizer/loss_scaler.h"
#include "convoy/optimizer/master_values.h"
#include "convoy/optimizer/optimizer.h"
#include "convoy/optimizer/optimizer_step.h"
#include "convoy/optimizer/registry.h"
#include "convoy/params/flat_buffer.h"
#include "convoy/params/microbatch_part.h"
#include "convoy/system/thread_team.h"

namespace convoy {

/// A model, and the layouts of its parameters and running statistics.
struct LaidOutModel {
  Model model;
  Layout layout, statistics_layout;

  bool has_frozen_statistics() const {
    return statistics_layout.trained_segment_count() <
           statistics_layout.segments().size();
  }
};

LaidOutModel lay_out(Model model);

/// These parameters are not trained, nor are the running statistics of layers without any
/// other.
void freeze(std::span<const SegmentId> segments, LaidOutModel& model);

/// How values are updated.
struct UpdateRuleOptions {
  std::string optimizer;  // name
  OptimizerOptions parameters{};
  std::optional<ClipOptions> clip{};             // none: no clipping
  Dtype values = Dtype::fp32;                    // if of 16 bits, there are masters
  std::optional<LossScaleOptions> loss_scale{};  // none: the loss is not scaled
};

struct RigOptions {
  int threads = 1;
  std::optional<UpdateRuleOptions> update{};  // none: values are not updated here
  /// As in NetworkOptions; none: as those of the passes say.
  std::optional<std::size_t> recompute_units{};
};

/// How gradients are computed.
struct PassOptions {
  std::size_t batch_size = 1;     // samples of the global batch
  MicrobatchPart part;            // the micro-batches of a batch that are computed here
  NetworkOptions network{};       // most_samples and statistics are overwritten
  Dtype gradients = Dtype::fp32;  // of their sums, as they are exchanged
};

class TrainingRig {
 public:
  /// Borrows the model for as long as it lives. All values are zero.
  TrainingRig(const LaidOutModel& model, const RigOptions& options);

  /// Initializes the values as the model's layers require, and resets the statistics.
  void initialize(std::uint64_t seed);

  /// Values were set to numbers of full precision: makes masters of them and rounds them,
  /// if they are of 16 bits.
  void adopt_values();

  /// Sets the rates of the next update, after `step` steps of which some were skipped.
  void start_step(std::size_t step, const StepRates& rates);

  /// Reserves what computing gradients needs. Called at most once. Throws InputError.
  void plan_passes(const PassOptions& options);

  const LaidOutModel& model() const { return model_; }
  ThreadTeam& team() { return team_; }
  const ThreadTeam& team() const { return team_; }
  FlatBuffer& values() { return values_; }
  const FlatBuffer& values() const { return values_; }
  FlatBuffer& statistics() { return statistics_; }  // running statistics
  const FlatBuffer& statistics() const { return statistics_; }

  /// Requires: the options have an update rule.
  Optimizer& optimizer() const { return *optimizer_; }
  ClipNorm* clip() { return clip_ ? &*clip_ : nullptr; }  // nullptr: no clipping
  /// nullptr: the loss is not scaled.
  LossScaler* scaler() { return scaler_ ? &*scaler_ : nullptr; }
  const LossScaler* scaler() const { return scaler_ ? &*scaler_ : nullptr; }
  /// Whether the run has to end after the step of this loss. A step that is skipped may
  /// have any loss: numbers of fp16 overflow in forward, too.
  bool is_diverged(double loss) const;
  /// None: the loss is not scaled.
  std::optional<LossScaleState> loss_scale_state() const {
    return scaler_ ? std::optional(scaler_->state()) : std::nullopt;
  }
  OptimizerStep step() { return {*optimizer_, clip(), scaler()}; }

  /// The types of the values; nullptr: they are fp32, and there are no masters.
  const StoredTypes* types() const { return masters_ ? &masters_->types() : nullptr; }
  /// What updates change: the masters, or the values themselves.
  FlatBuffer& trained_values() { return masters_ ? masters_->masters() : values_; }

  /// Requires: plan_passes() was called.
  Network& network() { return *network_; }
  Microbatches& microbatches() { return *microbatches_; }

 private:
  const LaidOutModel& model_;
  ThreadTeam team_;
  FlatBuffer values_, statistics_;
  std::unique_ptr<Optimizer> optimizer_;
  MasterValues* masters_ = nullptr;  // the optimizer, if values are of 16 bits
  std::optional<ClipNorm> clip_;
  std::optional<LossScaler> scaler_;
  std::optional<std::size_t> recompute_units_;
  std::optional<Network> network_;
  std::optional<Microbatches> microbatches_;
};

}  // namespace convoy
