// SPDX-License-Identifier: Apache-2.0

#include "convoy/models/resnets.h"

#include "convoy/network/layers/average_pool.h"
#include "convoy/network/layers/batch_norm.h"
#include "convoy/network/layers/convolution.h"
#include "convoy/network/layers/flatten.h"
#include "convoy/network/layers/linear.h"
#include "convoy/network/layers/max_pool.h"
#include "convoy/network/layers/relu.h"

namespace convoy {
namespace {

struct BlockPlan {
  std::string name;  // "layer1.0"
  int src_channels;
  int width;  // of its 3x3 convolutions
  int stride;
};

Convolution convolution(const std::string& name, int channels, int kernel, int stride) {
  return {.name = name,
          .channels = channels,
          .kernel = kernel,
          .stride = stride,
          .padding = kernel / 2,
          .bias = false};
}

/// A 1x1 convolution where the block changes shape; else nothing, the identity.
Sequential shortcut(const BlockPlan& plan, int channels) {
  if (plan.stride == 1 && plan.src_channels == channels) return {};
  return {convolution(plan.name + ".downsample.0", channels, 1, plan.stride),
          BatchNorm{plan.name + ".downsample.1"}};
}

/// Two 3x3 convolutions.
Residual basic_block(const BlockPlan& plan) {
  return {{convolution(plan.name + ".conv1", plan.width, 3, plan.stride),
           BatchNorm{plan.name + ".bn1"}, Relu{},
           convolution(plan.name + ".conv2", plan.width, 3, 1),
           BatchNorm{plan.name + ".bn2"}},
          shortcut(plan, plan.width)};
}

constexpr int kExpansion = 4;

/// A 3x3 convolution between two of 1x1; it has the stride, as in torchvision.
Residual bottleneck(const BlockPlan& plan) {
  return {
      {convolution(plan.name + ".conv1", plan.width, 1, 1), BatchNorm{plan.name + ".bn1"},
       Relu{}, convolution(plan.name + ".conv2", plan.width, 3, plan.stride),
       BatchNorm{plan.name + ".bn2"}, Relu{},
       convolution(plan.name + ".conv3", plan.width * kExpansion, 1, 1),
       BatchNorm{plan.name + ".bn3"}},
      shortcut(plan, plan.width * kExpansion)};
}

/// Four groups of blocks of growing width, then a global average pool and `fc`.
void append_groups(Model& model, const std::vector<int>& blocks,
                   Residual (*make)(const BlockPlan&), int expansion, int classes) {
  int channels = 64;
  for (int group = 0; group < 4; ++group) {
    for (int i = 0; i < blocks[static_cast<std::size_t>(group)]; ++i) {
      const std::string name =
          "layer" + std::to_string(group + 1) + "." + std::to_string(i);
      const int stride = group > 0 && i == 0 ? 2 : 1;
      const int width = 64 << group;
      model.add(make({name, channels, width, stride}));
      model.add(Relu{});
      channels = width * expansion;
    }
  }
  model.add(AveragePool{});
  model.add(Flatten{});
  model.add(Linear{"fc", classes});
}

Model torchvision_stem(const char* name, Shape input) {
  return {name,
          input,
          {convolution("conv1", 64, 7, 2), BatchNorm{"bn1"}, Relu{},
           MaxPool{.window = 3, .stride = 2, .padding = 1}},
          WeightInit::kaiming_fan_out};
}

}  // namespace

Model resnet18_cifar(Shape input, int classes) {
  Model model("resnet18_cifar", input,
              {convolution("conv1", 64, 3, 1), BatchNorm{"bn1"}, Relu{}});
  append_groups(model, {2, 2, 2, 2}, basic_block, 1, classes);
  return model;
}

Model resnet18(Shape input, int classes) {
  Model model = torchvision_stem("resnet18", input);
  append_groups(model, {2, 2, 2, 2}, basic_block, 1, classes);
  return model;
}

Model resnet50(Shape input, int classes) {
  Model model = torchvision_stem("resnet50", input);
  append_groups(model, {3, 4, 6, 3}, bottleneck, kExpansion, classes);
  return model;
}

}  // namespace convoy
