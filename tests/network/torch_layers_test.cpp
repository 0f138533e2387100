// SPDX-License-Identifier: Apache-2.0
//
// Law 2, layer by layer: every layer of every model, from the same source, weights and
// gradient of its output, gives PyTorch's output and gradients. End to end a ReLU or a
// pool that decides otherwise at one pixel hides how close the arithmetic is; here
// nothing does.

#include <gtest/gtest.h>

#include <map>

#include "convoy/models/models.h"
#include "convoy/network/layers/adaptive_average_pool.h"
#include "convoy/network/layers/point/activations.h"
#include "tests/ask_torch.h"
#include "tests/network/expect_as_torch.h"

namespace convoy {
namespace {

using nlohmann::json;

constexpr std::size_t kLayerBatch = 5;
constexpr int kClasses = 10, kImageChannels = 3, kLargestImage = 64;

struct LayerCase {
  std::string name;  // of the first model and layer that have it
  Shape source;
  Layer layer;
};

json sides(Extent extent) { return {extent.height, extent.width}; }

/// As PyTorch's functions pad: left, right, top, bottom.
json sides(Padding padding) {
  return {padding.left, padding.right, padding.top, padding.bottom};
}

json request_of(const LayerCase& of) {
  json request = {{"source", {of.source.channels, of.source.height, of.source.width}}};
  if (const auto* convolution = of.layer.get_if<Convolution>()) {
    request.update({{"kind", "convolution"},
                    {"channels", convolution->channels},
                    {"kernel", sides(convolution->kernel)},
                    {"step", sides(convolution->stride)},
                    {"padding", sides(convolution->padding)},
                    {"dilation", sides(convolution->dilation)},
                    {"groups", convolution->groups},
                    {"bias", convolution->bias}});
  } else if (const auto* linear = of.layer.get_if<Linear>()) {
    request.update({{"kind", "linear"}, {"features", linear->features}});
  } else if (const auto* pool = of.layer.get_if<MaxPool>()) {
    const Window window = pool->real_window();
    request.update({{"kind", "max pool"},
                    {"kernel", sides(window.size)},
                    {"step", sides(window.stride)},
                    {"padding", sides(window.padding)},
                    {"ceil", window.ceil_mode}});
  } else if (const auto* mean = of.layer.get_if<AveragePool>()) {
    const Window window = mean->real_window(of.source);
    request.update({{"kind", "average pool"},
                    {"kernel", sides(window.size)},
                    {"step", sides(window.stride)},
                    {"padding", sides(window.padding)},
                    {"ceil", window.ceil_mode},
                    {"count padding", mean->count_include_pad}});
  } else if (const auto* adaptive = of.layer.get_if<AdaptiveAveragePool>()) {
    request.update({{"kind", "adaptive average pool"},
                    {"size", {adaptive->height, adaptive->width}}});
  } else if (const auto* clip = of.layer.get_if<Clip>()) {
    request.update({{"kind", "clip"}, {"min", clip->min}, {"max", clip->max}});
  } else if (const auto* norm = of.layer.get_if<BatchNorm>()) {
    request.update({{"kind", "batch norm"}, {"epsilon", norm->epsilon}});
  } else if (of.layer.get_if<Relu>() != nullptr) {
    request["kind"] = "relu";
  } else if (of.layer.get_if<Gelu>() != nullptr) {
    request["kind"] = "gelu";
  }
  return request;  // others have no kind
}

/// Every layer that computes something, of every model and of the examples of its kind;
/// each once.
std::vector<LayerCase> all_cases() {
  std::map<std::string, LayerCase> found;
  for (const ModelEntry& entry : model_entries()) {
    Shape input = entry.usual_input;
    if (input.height > kLargestImage) input.height = input.width = kLargestImage;
    for (const LayerInfo& info : describe(entry.make(input, kClasses))) {
      const LayerCase of = {entry.name + " " + info.name, info.src(), info.layer};
      const json request = request_of(of);
      if (request.contains("kind")) found.emplace(request.dump(), of);
    }
  }
  for (const LayerKind* kind : layer_kinds()) {
    for (const LayerExample& example : kind->examples()) {
      const LayerCase of = {example.name, example.src.front(), example.layer};
      const json request = request_of(of);
      const bool of_images = of.source.rows == 1 && of.source.pixels() > 1;
      if (of_images && request.contains("kind")) found.emplace(request.dump(), of);
    }
  }
  std::vector<LayerCase> cases;
  for (const auto& [request, of] : found) cases.push_back(of);
  return cases;
}

json from_torch(const std::vector<LayerCase>& cases) {
  json request = {{"batch", kLayerBatch}, {"layers", json::array()}};
  for (const LayerCase& of : cases) request["layers"].push_back(request_of(of));
  return ask_torch("network/torch_layers.py", request);
}

Model between_front_and_end(const LayerCase& of) {
  return {
      "case",
      {kImageChannels, of.source.height, of.source.width},
      {Convolution{
           .name = "front", .channels = of.source.channels, .kernel = 1, .bias = false},
       of.layer, Linear{"behind", kClasses}}};
}

TEST(TorchLayers, GiveWhatOursGive) {
  const std::vector<LayerCase> cases = all_cases();
  const json expected = from_torch(cases);
  ASSERT_EQ(expected.size(), cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(cases[i].name + " " + request_of(cases[i]).dump());
    expect_as_torch(between_front_and_end(cases[i]), kLayerBatch, expected[i]);
  }
}

}  // namespace
}  // namespace convoy
