// SPDX-License-Identifier: Apache-2.0
//
// Network: a model planned for a batch size: batches -> loss -> gradients.
//
// Planning decides everything beforehand: which layers are computed together, by which
// kernels, and where in one arena each activation, gradient and scratch lies. A pass then
// allocates nothing. A network borrows values and gradients from its caller and knows
// nothing of ranks; a PassListener is told when a unit is used and when its gradients are
// ready.
//
// Frozen parameters (Layout::freeze) have no gradient, and backward ends where nothing
// before is trained.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "convoy/network/arena.h"
#include "convoy/network/kernels/kernel_sets.h"
#include "convoy/network/loss.h"
#include "convoy/network/model.h"
#include "convoy/network/samples.h"
#include "convoy/network/stage.h"
#include "convoy/network/stage_builder.h"
#include "convoy/params/flat_buffer.h"
#include "convoy/params/pass_listener.h"

namespace convoy {

struct NetworkOptions {
  std::size_t most_samples = 64;  // in one pass
  bool training = true;           // false: forward only, without dropout
  float label_smoothing = 0;      // of the loss
  bool recompute_cheap = true;    // instead of keeping results for backward
  KernelSet kernels = best_kernel_set();
  WinogradMode winograd = WinogradMode::f4;  // for 3x3 convolutions
  /// The running statistics, borrowed; needed if the model has any that are used: without
  /// training, or frozen.
  const FlatBuffer* statistics = nullptr;
};

/// A stage's description, and the time it has taken in all passes so far.
struct StageReport {
  std::string name;
  std::vector<Shape> src;
  Shape dst;
  std::size_t parameters = 0;
  std::uint64_t flops = 0, real_flops = 0;  // as in LayerDescription
  double forward_seconds = 0, backward_seconds = 0;
};

class Network {
 public:
  /// Borrows layout and team for as long as it lives.
  Network(const Model& model, const Layout& layout, const NetworkOptions& options,
          ThreadTeam& team);

  /// Loss of the samples. Requires: at most `most_samples`; labels below the class count.
  LossSum forward(const Samples& samples, const FlatBuffer& values, const RngKey& key,
                  PassListener& listener);

  /// Gradients of scale * (sum of the losses) of the last forward(), overwriting those of
  /// trained parameters.
  /// Requires: training; the same samples and values as in forward().
  void backward(float scale, const FlatBuffer& values, FlatBuffer& gradients,
                PassListener& listener);

  /// Of the last forward(), sample by sample; logits only until backward().
  std::span<const std::int32_t> predictions() const;
  float logit(std::size_t sample, std::size_t category);

  /// Mean and unbiased variance that each batch norm computed in the last forward() of
  /// training, as statistics_layout() has them.
  const FlatBuffer& batch_statistics() const { return batch_statistics_; }

  const Layout& statistics_layout() const { return statistics_layout_; }

  /// Stage by stage.
  const std::vector<StageReport>& reports() const { return reports_; }

  std::size_t arena_bytes() const { return arena_.bytes(); }
  KernelSet kernels() const { return options_.kernels; }

 private:
  /// An activation that one stage writes and others read.
  struct PlannedActivation {
    Shape shape;
    SlotId values;
    std::optional<SlotId> gradient{};  // none where nothing before it is trained
    int used = 0;                      // the moment of the last forward that reads it
    int users = 0;                     // stages that read it
    std::size_t last_user = 0;         // the last stage that reads it, first in backward
    std::optional<SlotId> again{};     // its values in backward, computed a second time
  };

  /// What a stage reads, and what it gives of that activation's gradient where the
  /// gradient is a sum.
  struct PlannedSource {
    ActivationIndex activation;
    std::optional<SlotId> share{};
  };

  /// A parameter of a stage, likewise.
  struct PlannedParameter {
    SegmentId segment;
    Range range;
    bool trained = true;
    std::optional<SlotId> share{};
    bool ready = true;  // after this stage the gradient is final
  };

  struct PlannedStatistic {
    std::size_t begin;
    bool trained = true;
  };

  /// A stage among its neighbours; it gives the activation after its own number.
  struct PlannedStage {
    std::unique_ptr<Stage> stage;
    std::size_t unit;
    std::vector<PlannedSource> sources;
    std::vector<PlannedParameter> parameters;
    std::vector<PlannedStatistic> statistics;
    bool has_backward = false;
    std::optional<std::size_t> recomputed{};  // the stage that runs again before backward
  };

  /// What one stage is given, filled anew for each.
  struct StageArguments {
    std::vector<Activation> src;
    std::vector<ParameterView> parameters;
    std::vector<StatisticView> statistics;
  };

  int forward_moment(std::size_t stage) const { return static_cast<int>(stage) + 1; }
  int backward_moment(std::size_t stage) const;
  void plan(const Model& model);
  void plan_tensors(const StageSpec& spec, PlannedStage& planned) const;
  void plan_backward();
  void plan_stage(const StageSpec& spec, StageContext& context);
  void plan_activations(const std::vector<StageSpec>& specs, ArenaPlan& arena_plan);
  void plan_recomputed(ArenaPlan& arena_plan);
  bool is_worth_recomputing(std::size_t stage) const;
  void plan_lifetimes(ArenaPlan& arena_plan);
  void plan_gradients(ArenaPlan& arena_plan);
  void plan_shared_parameters(ArenaPlan& arena_plan);
  void reserve_arguments();
  void clear_gradients(std::size_t unit, FlatBuffer& gradients) const;
  std::size_t activation_bytes(Shape shape) const;
  bool is_first_of_unit(std::size_t stage) const;
  bool is_last_of_unit(std::size_t stage) const;
  Pass make_pass(const RngKey& key);
  Activation activation(ActivationIndex index);
  void set_arguments(std::size_t stage, const float* values, float* gradients,
                     Pass& pass);
  void recompute(std::size_t stage, const FlatBuffer& values, Pass& pass);
  void add_shares(std::size_t stage, float* gradients);

  const Layout& layout_;
  NetworkOptions options_;
  ThreadTeam& team_;
  Shape input_;
  std::vector<PlannedActivation> activations_;
  std::vector<PlannedStage> stages_;
  std::vector<StageReport> reports_;
  std::unique_ptr<SoftmaxLoss> loss_;
  Arena arena_;
  Layout statistics_layout_;
  FlatBuffer batch_statistics_;
  std::size_t classes_ = 0;
  Samples samples_;  // of the last forward
  RngKey key_;
  StageArguments arguments_;
};

}  // namespace convoy
