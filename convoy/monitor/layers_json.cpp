// SPDX-License-Identifier: Apache-2.0

#include "convoy/monitor/layers_json.h"

#include <nlohmann/json.hpp>

namespace convoy {

nlohmann::ordered_json layers_json(const Model& model) {
  auto layers = nlohmann::ordered_json::array();
  for (const LayerInfo& layer : describe(model)) {
    const Shape dst = layer.dst();
    layers.push_back({{"layer", layer.kind},
                      {"name", layer.name},
                      {"sources", layer.sources},
                      {"output", {dst.channels, dst.height, dst.width}},
                      {"parameters", layer.parameters()},
                      {"forward_flops", layer.description.flops},
                      {"activation_bytes", dst.size() * sizeof(float)}});
  }
  return layers;
}

}  // namespace convoy
