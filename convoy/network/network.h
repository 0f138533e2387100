// SPDX-License-Identifier: Apache-2.0
//
// Network: a model planned for a batch size: batches -> loss -> gradients.
//
// Its plan decides everything beforehand (plan/network_plan.h); a pass then allocates
// nothing. A network borrows values and gradients from its caller and knows
// nothing of ranks; a PassListener is told when a unit is used and when its gradients are
// ready.
//
// Frozen parameters (Layout::freeze) have no gradient, and backward ends where nothing
// before is trained.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "convoy/network/arena.h"
#include "convoy/network/loss.h"
#include "convoy/network/model.h"
#include "convoy/network/plan/network_plan.h"
#include "convoy/network/samples.h"
#include "convoy/network/stage.h"
#include "convoy/params/flat_buffer.h"
#include "convoy/params/pass_listener.h"

namespace convoy {

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

  const Layout& statistics_layout() const { return plan_.statistics_layout; }

  /// Stage by stage.
  const std::vector<StageReport>& reports() const { return plan_.reports; }

  std::size_t arena_bytes() const { return arena_.bytes(); }
  KernelSet kernels() const { return options_.kernels; }

 private:
  /// What one stage is given, filled anew for each.
  struct StageArguments {
    std::vector<Activation> src;
    std::vector<ParameterView> parameters;
    std::vector<StatisticView> statistics;
  };

  void reserve_arguments();
  void clear_gradients(std::size_t unit, FlatBuffer& gradients) const;
  bool is_first_of_unit(std::size_t stage) const;
  bool is_last_of_unit(std::size_t stage) const;
  Pass make_pass(const RngKey& key);
  Stored stored(SlotId slot, Dtype dtype) { return {arena_.get<void>(slot), dtype}; }
  Activation activation(ActivationIndex index);
  void set_arguments(std::size_t stage, const float* values, float* gradients,
                     Pass& pass);
  void forward_stage(std::size_t stage, const FlatBuffer& values, Pass& pass);
  std::size_t forward_unit_again(std::size_t last_stage, const FlatBuffer& values,
                                 Pass& pass);
  void backward_stage(std::size_t stage, const FlatBuffer& values, FlatBuffer& gradients,
                      Pass& pass);
  void add_shares(std::size_t stage, float* gradients);
  std::span<const Activation> sources_of(std::size_t stage) const {
    return std::span(arguments_.src).first(plan_.stages[stage].sources.size());
  }

  const Layout& layout_;
  NetworkOptions options_;
  ThreadTeam& team_;
  Shape input_;
  NetworkPlan plan_;
  std::unique_ptr<SoftmaxLoss> loss_;
  Arena arena_;
  FlatBuffer batch_statistics_;
  Samples samples_;  // of the last forward
  RngKey key_;
  StageArguments arguments_;
};

}  // namespace convoy
