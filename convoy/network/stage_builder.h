// SPDX-License-Identifier: Apache-2.0
//
// From a model's layers to stages: which layers are computed together.

#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "convoy/network/model.h"
#include "convoy/network/stage.h"
#include "convoy/network/winograd_plan.h"

namespace convoy {

/// One or more layers that make a stage.
struct StageSpec {
  Layer layer;        // the first of them
  bool relu = false;  // followed by these
  int pool = 0;
  std::optional<WinogradForm> winograd;  // of a convolution; none: the plain way
  Shape dst;
  std::size_t unit;                 // the unit it belongs to
  std::vector<SegmentId> segments;  // its parameters: weight, bias
};

/// Joins ReLU to the convolution or linear layer before it, and a max pool whose windows
/// do not overlap to the convolution before it, if that is computed the plain way. A
/// layer without parameters belongs to the unit before it, or to the first. Dropout is
/// left out unless `training`.
std::vector<StageSpec> fuse_layers(const Model& model, bool training,
                                   WinogradMode winograd);

std::unique_ptr<Stage> make_stage(const StageSpec& spec, const StageContext& context,
                                  const Layout& layout);

}  // namespace convoy
