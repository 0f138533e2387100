// SPDX-License-Identifier: Apache-2.0

#include "convoy/models/mobilenet.h"

#include "convoy/network/layers/average_pool.h"
#include "convoy/network/layers/batch_norm.h"
#include "convoy/network/layers/convolution.h"
#include "convoy/network/layers/dropout.h"
#include "convoy/network/layers/flatten.h"
#include "convoy/network/layers/linear.h"
#include "convoy/network/layers/point/activations.h"

namespace convoy {
namespace {

/// Blocks of one width.
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

/// A convolution, its norm and a ReLU6.
Sequential clipped(const std::string& name, const Filter& filter) {
  return {Convolution{.name = name + ".0",
                      .channels = filter.channels,
                      .kernel = filter.kernel,
                      .stride = filter.stride,
                      .padding = filter.kernel / 2,
                      .bias = false,
                      .groups = filter.groups},
          BatchNorm{name + ".1"}, Clip{.min = 0, .max = 6}};
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

}  // namespace

Model mobilenet_v2(Shape input, int classes) {
  Model model("mobilenet_v2", input, {}, WeightInit::kaiming_fan_out);
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

}  // namespace convoy
