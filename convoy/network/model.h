// SPDX-License-Identifier: Apache-2.0
//
// Model: a network as its author writes it, layer after layer, before anything is
// planned.
//
//   Model{"lenet5", {1, 28, 28},
//         {Convolution{"conv1", 6, 5, 1, 2}, Relu{}, MaxPool{2}, ...}}
//
// A model is a list of layers; any of them may be a Residual, which has two lists and
// adds their results. Shapes, parameters and cost (describe), the layout of parameters
// and running statistics, and their initial values follow from it.

#pragma once

#include <cstdint>
#include <string>
#include <utility>
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
  int stride = 1;
  int padding = 0;  // zeros around the image
  bool bias = true;
};
struct Linear {
  std::string name;
  int features;  // of the output
};
/// Batch normalisation with PyTorch's conventions: it normalises with the batch's mean
/// and biased variance in training, with running ones in evaluation, and follows the
/// batch's mean and unbiased variance with the weight kStatisticsRate.
struct BatchNorm {
  std::string name;
};
struct Relu {};
/// x times the normal distribution up to x: a ReLU without an edge.
struct Gelu {};
struct MaxPool {
  int window;      // square
  int stride = 0;  // 0: as the window
  int padding = 0;
};
struct AveragePool {
  int window = 0;  // square, without overlap; 0: the whole image
};
struct Dropout {
  float probability;  // that an element becomes zero
};
struct Flatten {};
/// The end of a Residual. Made by describe(), not by authors.
struct Add {};
struct Layer;
/// body(x) + shortcut(x). An empty shortcut is x itself.
struct Residual {
  explicit Residual(std::vector<Layer> only_body);
  Residual(std::vector<Layer> first, std::vector<Layer> second);

  std::vector<Layer> body, shortcut;
};

struct Layer : std::variant<Convolution, Linear, BatchNorm, Relu, Gelu, MaxPool,
                            AveragePool, Dropout, Flatten, Residual, Add> {
  using variant::variant;
};

inline Residual::Residual(std::vector<Layer> only_body) : body(std::move(only_body)) {}
inline Residual::Residual(std::vector<Layer> first, std::vector<Layer> second)
    : body(std::move(first)), shortcut(std::move(second)) {}

inline constexpr float kNormEpsilon = 1e-5f;
inline constexpr float kStatisticsRate = 0.1f;

/// How convolutions are initialised.
enum class WeightInit {
  uniform,          // PyTorch's default: within 1 / sqrt(inputs of one output)
  kaiming_fan_out,  // torchvision's ResNets: normal, of variance 2 / (outputs of one
                    // input)
  dirac  // uniform, but the first outputs of 3x3 kernels are the inputs as they
         // are
};

struct Model {
  std::string name;
  Shape input;
  std::vector<Layer> layers;  // the last gives one number per class
  WeightInit weight_init = WeightInit::uniform;
};

/// The number of a layer in what describe() gives; kModelInput is no layer.
using LayerIndex = int;
inline constexpr LayerIndex kModelInput = -1;

/// One layer among its neighbours.
struct LayerInfo {
  Layer layer;                      // never a Residual
  LayerIndex source = kModelInput;  // whose result it takes
  LayerIndex other = kModelInput;   // the second one, of an Add
  std::size_t unit = 0;             // the unit it belongs to
  std::string kind{};               // "convolution"
  std::string name{};               // "conv1", or "" for a layer without parameters
  Shape src{}, dst{};
  std::size_t parameters = 0;
  std::uint64_t forward_flops = 0;  // for one sample; a multiply-add counts as two
};

/// Every layer with its shapes and cost, in the order in which they are computed. Of a
/// Residual come the body, the shortcut, and an Add.
///
/// Units: a convolution or linear layer begins one, and so does a Residual, which is one
/// unit as a whole; every other layer belongs to the unit before it.
///
/// Throws InputError when a layer does not fit its source (an image smaller than a
/// kernel).
std::vector<LayerInfo> describe(const Model& model);

/// The output shape of a convolution for a source that it fits.
Shape output_shape(const Convolution& layer, Shape src);

/// Height and width of an average pool's window.
Shape pool_window(const AveragePool& layer, Shape src);

/// The number of classes: what the last layer gives.
int class_count(const Model& model);

/// Where the parameters lie; units are padded to a multiple of `unit_multiple`.
Layout build_layout(const Model& model, std::size_t unit_multiple = 16);

/// Where the running statistics lie: a mean and a variance for each BatchNorm, in order.
Layout build_statistics_layout(const Model& model);

/// Initial values, a function of the seed alone.
void initialize(const Layout& layout, std::uint64_t seed, FlatBuffer& values,
                WeightInit weight_init = WeightInit::uniform);

/// Initial running statistics: mean 0, variance 1.
void initialize_statistics(const Layout& layout, FlatBuffer& statistics);

}  // namespace convoy
