// SPDX-License-Identifier: Apache-2.0

#include "convoy/models/mobilenet.h"

#include <algorithm>

#include "convoy/network/layers/add.h"
#include "convoy/network/layers/average_pool.h"
#include "convoy/network/layers/batch_norm.h"
#include "convoy/network/layers/convolution.h"
#include "convoy/network/layers/dropout.h"
#include "convoy/network/layers/flatten.h"
#include "convoy/network/layers/linear.h"
#include "convoy/network/layers/point/activations.h"
#include "convoy/network/layers/point/multiply.h"
#include "convoy/network/layers/relu.h"

namespace convoy {
namespace {

/// Blocks of MobileNetV2 of one width.
struct BlockGroup {
  int expansion;  // of their inner channels
  int channels;
  int count;
  int stride;  // of the first
};

constexpr BlockGroup kBlockGroups[] = {{1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 3, 2},
                                       {6, 64, 4, 2}, {6, 96, 3, 1}, {6, 160, 3, 2},
                                       {6, 320, 1, 1}};
constexpr int kFirstChannels = 32, kLastChannels = 1280;

/// `groups` is 1, or the number of channels: a depthwise convolution.
struct Filter {
  int channels, kernel, stride, groups;
};

Convolution convolution(const std::string& name, const Filter& filter) {
  return {.name = name + ".0",
          .channels = filter.channels,
          .kernel = filter.kernel,
          .stride = filter.stride,
          .padding = filter.kernel / 2,
          .bias = false,
          .groups = filter.groups};
}

/// A convolution, its norm and a ReLU6.
Sequential clipped(const std::string& name, const Filter& filter) {
  return {convolution(name, filter), BatchNorm{name + ".1"}, Clip{.min = 0, .max = 6}};
}

void append(Sequential& all, const Sequential& more) {
  all.insert(all.end(), more.begin(), more.end());
}

/// More channels by a 1x1 convolution, a depthwise one, and fewer channels again, without
/// a ReLU.
Sequential inverted_bottleneck(const std::string& name, int src_channels,
                               const BlockGroup& group, int stride) {
  const int inner = src_channels * group.expansion;
  Sequential body;
  int number = 0;
  const auto next = [&] { return name + ".conv." + std::to_string(number++); };
  if (group.expansion > 1) append(body, clipped(next(), {inner, 1, 1, 1}));
  append(body, clipped(next(), {inner, 3, stride, inner}));
  body.emplace_back(Convolution{
      .name = next(), .channels = group.channels, .kernel = 1, .bias = false});
  body.emplace_back(BatchNorm{next()});
  return body;
}

void add_all(Model& model, const Sequential& modules) {
  for (const Module& module : modules) model.add(module);
}

/// Every block is one unit.
void add_block(Model& model, const Sequential& body, bool residual) {
  model.begin_block();
  if (residual) {
    model.add(Residual(body));
  } else {
    add_all(model, body);
  }
  model.end_block();
}

/// A block of MobileNetV3.
struct Bottleneck {
  int kernel;  // of the depthwise convolution
  int inner;   // channels of it
  int channels;
  bool squeeze;
  bool swish;  // or ReLUs
  int stride;
};

constexpr Bottleneck kSmallBottlenecks[] = {
    {3, 16, 16, true, false, 2},  {3, 72, 24, false, false, 2},
    {3, 88, 24, false, false, 1}, {5, 96, 40, true, true, 2},
    {5, 240, 40, true, true, 1},  {5, 240, 40, true, true, 1},
    {5, 120, 48, true, true, 1},  {5, 144, 48, true, true, 1},
    {5, 288, 96, true, true, 2},  {5, 576, 96, true, true, 1},
    {5, 576, 96, true, true, 1}};
constexpr int kSmallFirst = 16, kSmallLast = 576, kSmallFeatures = 1024;

enum class Nonlinearity { none, relu, hard_swish };

/// A convolution, its norm with V3's constants, and what follows.
void add_normed(Model& model, const std::string& name, const Filter& filter,
                Nonlinearity nonlinearity) {
  model.add(convolution(name, filter));
  model.add(BatchNorm{.name = name + ".1", .epsilon = 0.001f, .momentum = 0.01f});
  if (nonlinearity == Nonlinearity::relu) model.add(Relu{});
  if (nonlinearity == Nonlinearity::hard_swish) model.add(HardSwish{});
}

/// A quarter of the channels, rounded to a multiple of eight and not by more than a tenth
/// down.
int squeezed(int channels) {
  const int quarter = channels / 4;
  const int rounded = std::max(8, (quarter + 4) / 8 * 8);
  return 10 * rounded < 9 * quarter ? rounded + 8 : rounded;
}

/// Squeeze and excitation: multiplies every channel by a number between 0 and 1, which
/// two small layers make of the means of all channels.
void add_squeeze(Model& model, const std::string& name, int channels) {
  const LayerIndex src = model.last();
  model.add(AveragePool{});
  model.add(Convolution{.name = name + ".fc1", .channels = squeezed(channels)});
  model.add(Relu{});
  model.add(Convolution{.name = name + ".fc2", .channels = channels});
  const LayerIndex gate = model.add(HardSigmoid{});
  model.add(Multiply{}, {src, gate});
}

/// More channels, a depthwise convolution, squeeze and excitation, and fewer channels.
void add_bottleneck(Model& model, const std::string& name, int src_channels,
                    const Bottleneck& block) {
  const LayerIndex src = model.last();
  const Nonlinearity nonlinearity =
      block.swish ? Nonlinearity::hard_swish : Nonlinearity::relu;
  int number = 0;
  const auto next = [&] { return name + ".block." + std::to_string(number++); };
  model.begin_block();
  if (block.inner != src_channels) {
    add_normed(model, next(), {block.inner, 1, 1, 1}, nonlinearity);
  }
  add_normed(model, next(), {block.inner, block.kernel, block.stride, block.inner},
             nonlinearity);
  if (block.squeeze) add_squeeze(model, next(), block.inner);
  add_normed(model, next(), {block.channels, 1, 1, 1}, Nonlinearity::none);
  if (block.stride == 1 && src_channels == block.channels) {
    model.add(Add{}, {model.last(), src});
  }
  model.end_block();
}

}  // namespace

Model mobilenet_v2(Shape input, int classes) {
  Model model("mobilenet_v2", input, {}, WeightInit::mobilenet);
  int number = 0, channels = kFirstChannels;
  const auto next = [&] { return "features." + std::to_string(number++); };
  add_all(model, clipped(next(), {channels, 3, 2, 1}));
  for (const BlockGroup& group : kBlockGroups) {
    for (int i = 0; i < group.count; ++i) {
      const int stride = i == 0 ? group.stride : 1;
      add_block(model, inverted_bottleneck(next(), channels, group, stride),
                stride == 1 && channels == group.channels);
      channels = group.channels;
    }
  }
  add_all(model, clipped(next(), {kLastChannels, 1, 1, 1}));
  model.add(AveragePool{});
  model.add(Flatten{});
  model.add(Dropout{0.2f});
  model.add(Linear{"classifier.1", classes});
  return model;
}

Model mobilenet_v3_small(Shape input, int classes) {
  Model model("mobilenet_v3_small", input, {}, WeightInit::mobilenet);
  int number = 0, channels = kSmallFirst;
  const auto next = [&] { return "features." + std::to_string(number++); };
  add_normed(model, next(), {channels, 3, 2, 1}, Nonlinearity::hard_swish);
  for (const Bottleneck& block : kSmallBottlenecks) {
    add_bottleneck(model, next(), channels, block);
    channels = block.channels;
  }
  add_normed(model, next(), {kSmallLast, 1, 1, 1}, Nonlinearity::hard_swish);
  model.add(AveragePool{});
  model.add(Flatten{});
  model.add(Linear{"classifier.0", kSmallFeatures});
  model.add(HardSwish{});
  model.add(Dropout{0.2f});
  model.add(Linear{"classifier.3", classes});
  return model;
}

}  // namespace convoy
