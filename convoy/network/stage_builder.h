// SPDX-License-Identifier: Apache-2.0
//
// From a model's layers to stages: which layers are computed together.

#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "convoy/network/model.h"
#include "convoy/network/stage.h"

namespace convoy {

/// The number of an activation: 0 is the input, i + 1 what stage i gives.
using ActivationIndex = std::size_t;

/// One or more layers that make a stage.
struct StageSpec {
  Layer layer;        // the first of them
  bool relu = false;  // followed by these
  int pool = 0;
  ActivationIndex source = 0;
  std::optional<ActivationIndex> residual{};  // that it adds
  Shape src{}, dst{};
  std::size_t unit = 0;               // the unit it belongs to
  std::vector<SegmentId> segments{};  // its parameters: weight, then bias if it has one
};

/// Joins ReLU to the layer before it where that one can take it, a max pool whose windows
/// do not overlap to the convolution or batch norm before it, and the sum of a residual
/// to the batch norm that ends its body. Dropout is left out unless `training`.
std::vector<StageSpec> fuse_layers(const Model& model, const Layout& layout,
                                   bool training);

std::unique_ptr<Stage> make_stage(const StageSpec& spec, const StageContext& context,
                                  const Layout& layout, const Layout& statistics);

}  // namespace convoy
