// SPDX-License-Identifier: Apache-2.0
//
// From a model's layers to stages: which layers are computed together.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "convoy/network/model.h"
#include "convoy/network/stage.h"

namespace convoy {

/// The number of an activation: 0 is the input, i + 1 the output of stage i.
using ActivationIndex = std::size_t;

/// One or more layers that make a stage.
struct StageSpec {
  std::string name;               // of the first of them, "layer1.0.conv1", or its kind
  std::vector<LayerInfo> layers;  // the first decides what the stage is; others joined it
  /// What the stage reads: the sources of its first layer, then those that the others
  /// have besides the result of the layer before them.
  std::vector<ActivationIndex> sources;
  std::vector<Shape> src;
  WinogradMode winograd = WinogradMode::f4;
  bool training = true;  // without it, there is no dropout

  const LayerInfo& first() const { return layers.front(); }
  Shape dst() const { return layers.back().dst(); }
  std::size_t unit() const { return first().unit; }

  /// Of the first layer.
  template <class Options>
  const Options& options() const {
    return first().layer.get<Options>();
  }
  /// The options of the layer of that kind which joined the first, if one did.
  template <class Options>
  const Options* joined() const {
    for (std::size_t i = 1; i < layers.size(); ++i) {
      if (const auto* found = layers[i].layer.get_if<Options>()) return found;
    }
    return nullptr;
  }
};

struct FuseOptions {
  bool training = true;  // without it, dropout is left out
  WinogradMode winograd = WinogradMode::f4;
};

/// Joins a layer to the stage before it where that stage's first layer takes it in
/// (LayerKind::joins) and nothing else reads what is between them.
std::vector<StageSpec> fuse_layers(const Model& model, const FuseOptions& options);

}  // namespace convoy
