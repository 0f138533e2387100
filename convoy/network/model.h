// SPDX-License-Identifier: Apache-2.0
//
// Model: a network as its author writes it, layer after layer, before anything is
// planned.
//
//   Model{"lenet5", {1, 28, 28}, {Convolution{"conv1", 6, 5, 1, 2}, Relu{}, MaxPool{2},
//   ...}}
//
// From it follow shapes, parameters and cost (describe), the layout of the parameters
// (build_layout) and their first values (initialize).

#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "convoy/base/shape.h"
#include "convoy/params/flat_buffer.h"
#include "convoy/params/layout.h"

namespace convoy {

struct Convolution {
  std::string name;
  int channels;  // of the output
  int kernel;    // square
  int step = 1;
  int padding = 0;  // zeros around the image
};
struct Linear {
  std::string name;
  int features;  // of the output
};
struct Relu {};
struct MaxPool {
  int window;    // square
  int step = 0;  // 0: as the window
};
struct Dropout {
  float probability;  // that an element becomes zero
};
struct Flatten {};

using Layer = std::variant<Convolution, Linear, Relu, MaxPool, Dropout, Flatten>;

struct Model {
  std::string name;
  Shape input;
  std::vector<Layer> layers;  // the last gives one number a class
};

/// One layer among its neighbours.
struct LayerInfo {
  std::string kind;  // "convolution"
  std::string name;  // "conv1", or "" for a layer without parameters
  Shape src, dst;
  std::size_t parameters = 0;
  std::uint64_t forward_flops = 0;  // for one sample; a multiply-add counts as two
};

/// Every layer with its shapes and cost, in order.
/// Throws InputError when a layer does not fit its source (an image smaller than a
/// kernel).
std::vector<LayerInfo> describe(const Model& model);

/// What a convolution makes of a source that it fits.
Shape output_shape(const Convolution& layer, Shape src);

/// The number of classes: what the last layer gives.
int class_count(const Model& model);

/// Units are layers with parameters; each is padded to a multiple of `unit_multiple`.
Layout build_layout(const Model& model, std::size_t unit_multiple = 16);

/// PyTorch's default initialisation: weights and biases uniform within
/// 1 / sqrt(inputs of one output). A function of the seed alone.
void initialize(const Layout& layout, std::uint64_t seed, FlatBuffer& values);

}  // namespace convoy
