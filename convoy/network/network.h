// SPDX-License-Identifier: Apache-2.0
//
// Network: a model planned for a batch size: batches -> loss -> gradients.
//
// Planning decides everything beforehand: which layers are computed together, by which
// kernels, and where in one arena each activation, gradient and scratch lies. A pass then
// allocates nothing. A network borrows values and gradients from its caller and knows
// nothing of ranks; whoever listens (PassListener) learns when a unit is used and when
// its gradients are ready.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "convoy/network/arena.h"
#include "convoy/network/loss.h"
#include "convoy/network/model.h"
#include "convoy/network/stage.h"
#include "convoy/network/winograd_plan.h"
#include "convoy/params/flat_buffer.h"
#include "convoy/params/pass_listener.h"

namespace convoy {

/// Labelled images as a loader gives them.
struct Samples {
  std::span<const float> images;  // [sample][channel][row][column]
  std::span<const std::int32_t> labels;

  std::size_t count() const { return labels.size(); }
  /// Samples [range.begin, range.end).
  Samples part(Range range) const;
};

struct NetworkOptions {
  std::size_t most_samples = 64;  // in one pass
  bool training = true;           // false: forward only, without dropout
  const Kernels* kernels = &fast_kernels();
  WinogradMode winograd = WinogradMode::f4;  // for 3x3 convolutions
};

class Network {
 public:
  /// Borrows layout and team for as long as it lives.
  Network(const Model& model, const Layout& layout, const NetworkOptions& options,
          ThreadTeam& team);

  /// Loss of the samples. Requires: at most `most_samples`; labels below the class count.
  LossSum forward(const Samples& samples, const FlatBuffer& values, const PassKey& key,
                  PassListener& listener);

  /// Gradients of scale * (sum of the losses) of the last forward(), overwriting.
  /// Requires: training; the same samples and values as in forward().
  void backward(float scale, const FlatBuffer& values, FlatBuffer& gradients,
                PassListener& listener);

  /// Of the last forward(), sample by sample; logits only until backward().
  std::span<const std::int32_t> predictions() const;
  float logit(std::size_t sample, std::size_t category);

  std::size_t arena_bytes() const { return arena_.bytes(); }
  const Kernels& kernels() const { return *options_.kernels; }

 private:
  /// A stage among its neighbours. Its source is the activation of the stage before it.
  struct Planned {
    std::unique_ptr<Stage> stage;
    std::size_t unit;
    std::vector<SegmentId> segments;
    SlotId dst, dst_gradient;
  };

  void plan(const Model& model, const Layout& layout);
  void plan_lifetimes(ArenaPlan& arena_plan);
  bool is_first_of_unit(std::size_t stage) const;
  bool is_last_of_unit(std::size_t stage) const;
  void pack_images(const Samples& samples);
  Pass make_pass(const FlatBuffer& values, float* gradients, const PassKey& key);

  NetworkOptions options_;
  ThreadTeam& team_;
  Shape input_;
  std::vector<Planned> stages_;
  SlotId input_slot_;
  std::unique_ptr<SoftmaxLoss> loss_;
  Arena arena_;
  std::size_t classes_ = 0;
  Samples samples_;  // of the last forward
  PassKey key_;
};

}  // namespace convoy
