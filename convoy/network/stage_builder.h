// SPDX-License-Identifier: Apache-2.0
//
// From a model's layers to stages: which layers are computed together.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "convoy/network/model.h"
#include "convoy/network/stage.h"
#include "convoy/network/winograd_plan.h"

namespace convoy {

/// The number of an activation: 0 is the input, i + 1 the output of stage i.
using ActivationIndex = std::size_t;

/// One or more layers that make a stage.
struct StageSpec {
  std::string name{};            // of the first of them, "layer1.0.conv1", or its kind
  std::uint64_t flops = 0;       // of one sample's forward pass, by direct convolution
  std::uint64_t real_flops = 0;  // as it is computed
  Layer layer;                   // the first of them
  bool relu = false;             // followed by these
  int pool = 0;
  ActivationIndex source = 0;
  std::optional<ActivationIndex> residual{};  // that it adds
  std::optional<WinogradForm> winograd{};     // of a convolution; none: direct
  Shape src{}, dst{};
  std::size_t unit = 0;               // the unit it belongs to
  std::vector<SegmentId> segments{};  // its parameters: weight, then bias if it has one
};

struct FuseOptions {
  bool training = true;  // without it, dropout is left out
  WinogradMode winograd = WinogradMode::f4;
};

/// Joins a ReLU to the layer before it where that layer's stage can include it, a max
/// pool whose windows do not overlap to the batch norm or the direct convolution before
/// it, and the sum of a residual to the batch norm that ends its body.
std::vector<StageSpec> fuse_layers(const Model& model, const Layout& layout,
                                   const FuseOptions& options);

std::unique_ptr<Stage> make_stage(const StageSpec& spec, const StageContext& context,
                                  const Layout& layout, const Layout& statistics);

}  // namespace convoy
