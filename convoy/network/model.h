// SPDX-License-Identifier: Apache-2.0
//
// Model: a network as its author writes it, before anything is planned: a graph of
// layers, each of which reads the results of layers before it.
//
// A sequence of layers is written as one, with residual blocks inside it:
//
//   Model("lenet5", {1, 28, 28},
//         {Convolution{"conv1", 6, 5, 1, 2}, Relu{}, MaxPool{2}, ...});
//
// Any other graph is made layer by layer; add() returns what a layer gives:
//
//   const LayerIndex x = model.add(Linear{"fc1", 64});
//   const LayerIndex gate = model.add(Sigmoid{}, {x});
//   model.add(Multiply{}, {x, gate});
//
// Shapes, parameters and cost (describe), the layout of parameters and running
// statistics, and their initial values follow from it.

#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "convoy/base/shape.h"
#include "convoy/network/layer.h"
#include "convoy/params/flat_buffer.h"
#include "convoy/params/layout.h"

namespace convoy {

/// The number of a layer of a model; kModelInput is no layer.
using LayerIndex = int;
inline constexpr LayerIndex kModelInput = -1;

struct Module;
/// Modules one after the other, as PyTorch's nn.Sequential.
using Sequential = std::vector<Module>;

/// body(x) + shortcut(x). An empty shortcut is x itself.
struct Residual {
  explicit Residual(Sequential only_body);
  Residual(Sequential first, Sequential second);

  Sequential body, shortcut;
};

struct Module : std::variant<Layer, Residual> {
  template <class Options>
  requires(!std::is_same_v<Options, Module> && !std::is_same_v<Options, Residual>)
      Module(Options options)
      : variant(Layer(std::move(options))) {}
  Module(Residual residual) : variant(std::move(residual)) {}
};

inline Residual::Residual(Sequential only_body) : body(std::move(only_body)) {}
inline Residual::Residual(Sequential first, Sequential second)
    : body(std::move(first)), shortcut(std::move(second)) {}

/// A layer and what it reads.
struct ModelNode {
  Layer layer;
  std::vector<LayerIndex> sources;
  int block = 0;  // layers of one block are one unit; 0: none
};

class Model {
 public:
  Model() = default;
  Model(std::string name, Shape input, const Sequential& modules = {},
        WeightInit weight_init = WeightInit::uniform);

  /// Appends a module that reads what the last layer gives. Returns its last layer.
  LayerIndex add(const Module& module);
  /// Appends a layer that reads these.
  LayerIndex add(Layer layer, std::vector<LayerIndex> sources);

  /// The layers between are one unit, whatever they are. Blocks inside a block are part
  /// of it.
  void begin_block();
  void end_block();

  LayerIndex last() const { return static_cast<LayerIndex>(nodes.size()) - 1; }

  std::string name;
  Shape input{};
  std::vector<ModelNode> nodes;  // the last gives one number per class
  WeightInit weight_init = WeightInit::uniform;

 private:
  LayerIndex append(const Sequential& modules, LayerIndex source);
  LayerIndex append(const Residual& residual, LayerIndex source);

  int blocks_ = 0;
  int open_blocks_ = 0;
};

/// One layer among its neighbours.
struct LayerInfo {
  Layer layer;
  std::vector<LayerIndex> sources;
  std::size_t unit = 0;  // the unit it belongs to
  std::string kind;      // "convolution"
  std::string name;      // "conv1", or "" for a layer without a name
  std::vector<Shape> sources_shapes;
  LayerDescription description;

  Shape src() const { return sources_shapes.front(); }
  Shape dst() const { return description.dst; }
  /// How many numbers its parameters have.
  std::size_t parameters() const;
};

struct DescribeOptions {
  WinogradMode winograd = WinogradMode::f4;
  bool training = true;
};

/// Every layer with its shapes and cost, in the order in which they are computed.
///
/// Units: a convolution or linear layer begins one, and so does a block, which is one
/// unit as a whole; every other layer belongs to the unit before it.
///
/// Throws InputError when a layer does not fit its sources (an image smaller than a
/// kernel).
std::vector<LayerInfo> describe(const Model& model, const DescribeOptions& options = {});

/// The number of classes: what the last layer gives.
int class_count(const Model& model);

/// Where the parameters lie; units are padded to a multiple of `unit_multiple`.
Layout build_layout(const Model& model, std::size_t unit_multiple = 16);

/// Where the running statistics lie, in the order of layers.
Layout build_statistics_layout(const Model& model);
/// The same; those of layers whose parameters are all frozen in `layout` are frozen, too.
Layout build_statistics_layout(const Model& model, const Layout& layout);

/// Initial values of parameters or statistics, a function of the seed alone.
void initialize(const Layout& layout, std::uint64_t seed, FlatBuffer& values);

}  // namespace convoy
