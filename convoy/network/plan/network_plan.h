// SPDX-License-Identifier: Apache-2.0
//
// NetworkPlan: all that is decided about a network before its first pass: which layers
// are computed together, in which order, and where in one arena each activation, gradient
// and scratch lies. A plan reserves no memory: that is a Network's.

#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "convoy/network/arena.h"
#include "convoy/network/kernels/kernel_sets.h"
#include "convoy/network/model.h"
#include "convoy/network/stage.h"
#include "convoy/network/stage_builder.h"
#include "convoy/params/flat_buffer.h"
#include "convoy/params/layout.h"

namespace convoy {

/// As many units as there are.
inline constexpr std::size_t kAllUnits = std::numeric_limits<std::size_t>::max();

struct NetworkOptions {
  std::size_t most_samples = 64;  // in one pass
  bool training = true;           // false: forward only, without dropout
  float label_smoothing = 0;      // of the loss
  bool recompute_cheap = true;    // instead of keeping results for backward
  /// So many units, from the first on, keep no activations for backward but what other
  /// units read: their stages run again before their backward.
  std::size_t recompute_units = 0;
  KernelSet kernels = best_kernel_set();
  WinogradMode winograd = WinogradMode::f4;  // for 3x3 convolutions
  Dtype activations = Dtype::fp32;           // as they are stored, and their gradients
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

/// An activation that one stage writes and others read.
struct PlannedActivation {
  Shape shape;
  Dtype dtype;
  SlotId values;
  std::optional<SlotId> gradient{};  // none where nothing before it is trained
  std::vector<std::size_t> users{};  // stages that read it, first to last
};

/// What a stage reads, and what it gives of that activation's gradient where the gradient
/// is a sum.
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

/// When a stage runs. Without training, `backward` is the moment of forward.
struct StageMoments {
  int forward = 0;
  int again = 0;  // forward once more, before the backward of its unit; 0: never
  int backward = 0;
};

/// A stage among its neighbours; it gives the activation after its own number.
struct PlannedStage {
  std::unique_ptr<Stage> stage;
  std::size_t unit;
  std::vector<PlannedSource> sources{};
  std::vector<PlannedParameter> parameters{};
  std::vector<PlannedStatistic> statistics{};
  bool has_backward = false;
  StageMoments moments{};
  Range slots{};                            // what it has reserved itself
  bool runs_again = false;                  // at moments.again
  std::optional<std::size_t> recomputed{};  // the stage that runs again before backward
};

struct NetworkPlan {
  std::vector<PlannedStage> stages;
  std::vector<PlannedActivation> activations;
  std::vector<StageReport> reports;
  ArenaPlan arena;
  std::size_t buffer_floats = 0;  // of each thread, for numbers that are widened
  SlotId fp32_buffers{};
  Layout statistics_layout;
  std::size_t classes = 0;
  bool packs_again = false;  // the inputs, before the backward of the first unit
};

/// Returns the plan of a model for that many threads. Throws InputError for a model that
/// cannot be computed. Requires: the layout is the model's.
NetworkPlan plan_network(const Model& model, const Layout& layout,
                         const NetworkOptions& options, int threads);

}  // namespace convoy
