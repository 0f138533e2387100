// SPDX-License-Identifier: Apache-2.0

#include "convoy/monitor/model_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace convoy {
namespace {

constexpr std::int64_t kAnyCount = -1;
constexpr const char* kInput = "input";

/// Converts "layer1.0.conv1" to the path "layer1/0/conv1".
std::string as_path(std::string name) {
  std::ranges::replace(name, '.', '/');
  return name;
}

/// Returns the parent scope: "layer1/0" of "layer1/0/conv1"; "" at the top.
std::string scope_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

std::string inside(const std::string& scope, const std::string& name) {
  return scope.empty() ? name : scope + "/" + name;
}

/// Returns the innermost scope that contains both paths, or is one of them.
std::string common_scope(std::string a, const std::string& b) {
  while (!a.empty() && a != b && !b.starts_with(a + "/")) a = scope_of(a);
  return a;
}

class GraphBuilder {
 public:
  explicit GraphBuilder(const Model& model) : layers_(describe(model)) {
    nodes_.push_back(
        {.name = kInput, .op = "Placeholder", .shape = shape_of(model.input, false)});
  }

  std::vector<GraphNode> build() && {
    for (std::size_t i = 0; i < layers_.size(); ++i) add(i);
    return std::move(nodes_);
  }

 private:
  /// What is known about a layer's operation once it is a node.
  struct Placed {
    std::string node;
    std::string scope;  // that neighbours without a name are put into
    bool flat = false;  // it gives features, not images
  };

  void add(std::size_t index) {
    const LayerInfo& layer = layers_[index];
    const LayerTraits& traits = layer.layer.kind().traits();
    Placed placed = layer.name.empty() ? place_among_others(index)
                                       : place_in_own_scope(layer, traits.operation);
    placed.flat = is_flat(layer);
    GraphNode node{.name = placed.node,
                   .op = traits.operation,
                   .inputs = {},
                   .shape = shape_of(layer.dst(), placed.flat),
                   .details = layer.description.details};
    for (const LayerIndex source : layer.sources) {
      node.inputs.push_back(source_node(source));
    }
    add_tensors(layer, node.inputs);
    nodes_.push_back(std::move(node));
    placed_.push_back(std::move(placed));
  }

  static Placed place_in_own_scope(const LayerInfo& layer, const std::string& op) {
    const std::string path = as_path(layer.name);
    return {.node = path + "/" + op, .scope = scope_of(path)};
  }

  /// An activation function and a sum belong to the block they end; what else is between
  /// two blocks belongs to neither.
  Placed place_among_others(std::size_t index) {
    const LayerInfo& layer = layers_[index];
    const LayerIndex source = layer.sources.front();
    std::string scope = source == kModelInput ? "" : placed_[to_index(source)].scope;
    if (!layer.layer.kind().traits().ends_block) {
      scope = common_scope(scope, next_scope(index));
    }
    return {.node = unused(inside(scope, layer.kind)), .scope = scope};
  }

  /// The scope of the next layer with a name.
  std::string next_scope(std::size_t index) const {
    const auto next =
        std::find_if(layers_.begin() + static_cast<std::ptrdiff_t>(index), layers_.end(),
                     [](const LayerInfo& l) { return !l.name.empty(); });
    return next == layers_.end() ? "" : scope_of(as_path(next->name));
  }

  /// Returns relu, relu_1, relu_2 ...
  std::string unused(const std::string& path) {
    const int count = used_[path]++;
    return count == 0 ? path : fmt::format("{}_{}", path, count);
  }

  /// A node per tensor; one that layers share has its node from the first of them.
  void add_tensors(const LayerInfo& layer, std::vector<std::string>& names) {
    for (const auto* tensors :
         {&layer.description.parameters, &layer.description.statistics}) {
      for (const TensorSpec& tensor : *tensors) {
        names.push_back(as_path(tensor.name));
        if (!tensors_.insert(tensor.name).second) continue;
        nodes_.push_back({.name = names.back(),
                          .op = "VariableV2",
                          .shape = {tensor.shape.begin(), tensor.shape.end()}});
      }
    }
  }

  bool is_flat(const LayerInfo& layer) const {
    if (layer.layer.kind().traits().flattens) return true;
    const LayerIndex source = layer.sources.front();
    return source != kModelInput && placed_[to_index(source)].flat;
  }

  std::string source_node(LayerIndex source) const {
    return source == kModelInput ? kInput : placed_[to_index(source)].node;
  }

  static std::size_t to_index(LayerIndex layer) {
    return static_cast<std::size_t>(layer);
  }

  /// As PyTorch shapes it: images, rows of features, or sequences of such rows.
  static std::vector<std::int64_t> shape_of(Shape shape, bool flat) {
    if (shape.rows > 1) return {kAnyCount, shape.rows, shape.channels};
    if (flat) return {kAnyCount, static_cast<std::int64_t>(shape.size())};
    return {kAnyCount, shape.channels, shape.height, shape.width};
  }

  std::vector<LayerInfo> layers_;
  std::vector<GraphNode> nodes_;
  std::vector<Placed> placed_;       // by layer
  std::map<std::string, int> used_;  // how often, by path
  std::set<std::string> tensors_;    // that have a node
};

}  // namespace

std::vector<GraphNode> model_graph(const Model& model) {
  return GraphBuilder(model).build();
}

}  // namespace convoy
