// SPDX-License-Identifier: Apache-2.0

#include "convoy/monitor/model_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
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

/// The name of an operation, and its attributes.
struct LayerOperation {
  std::string op;
  std::string name;  // if the layer itself has no name
  std::map<std::string, std::string> details{};
};

struct OperationOf {
  LayerOperation operator()(const Convolution& layer) const {
    return {"Conv2D", "", window(layer.kernel, layer.stride, layer.padding)};
  }
  LayerOperation operator()(const Linear&) const { return {"MatMul", ""}; }
  LayerOperation operator()(const BatchNorm&) const { return {"BatchNorm", ""}; }
  LayerOperation operator()(const Relu&) const { return {"Relu", "relu"}; }
  LayerOperation operator()(const Gelu&) const { return {"Gelu", "gelu"}; }
  LayerOperation operator()(const MaxPool& layer) const {
    const int stride = layer.stride == 0 ? layer.window : layer.stride;
    return {"MaxPool", "max_pool", window(layer.window, stride, layer.padding)};
  }
  LayerOperation operator()(const AveragePool& layer) const {
    const std::string size = layer.window == 0 ? "all" : fmt::format("{}", layer.window);
    return {"AvgPool", "avg_pool", {{"window", size}}};
  }
  LayerOperation operator()(const Dropout& layer) const {
    return {
        "Dropout", "dropout", {{"probability", fmt::format("{}", layer.probability)}}};
  }
  LayerOperation operator()(const Flatten&) const { return {"Reshape", "flatten"}; }
  LayerOperation operator()(const Add&) const { return {"Add", "add"}; }
  LayerOperation operator()(const Residual&) const { return {"Residual", "residual"}; }

 private:
  static std::map<std::string, std::string> window(int size, int stride, int padding) {
    return {{"window", fmt::format("{}", size)},
            {"stride", fmt::format("{}", stride)},
            {"padding", fmt::format("{}", padding)}};
  }
};

class GraphBuilder {
 public:
  explicit GraphBuilder(const Model& model)
      : layers_(describe(model)),
        layouts_{build_layout(model), build_statistics_layout(model)} {
    nodes_.push_back({.name = kInput, .op = "Placeholder", .shape = image(model.input)});
  }

  std::vector<GraphNode> build() && {
    for (std::size_t i = 0; i < layers_.size(); ++i) add(i);
    return std::move(nodes_);
  }

 private:
  /// What is known about a layer's operation once it is a node.
  struct Placed {
    std::string node;
    std::string scope;  // scope of neighbouring layers without a name
    bool flat = false;  // its output has rows of features, not images
  };

  void add(std::size_t index) {
    const LayerInfo& layer = layers_[index];
    LayerOperation operation = std::visit(OperationOf{}, layer.layer);
    Placed placed = layer.name.empty() ? place_among_others(index, operation.name)
                                       : place_in_own_scope(layer, operation.op);
    placed.flat = gives_rows(layer);
    GraphNode node{.name = placed.node,
                   .op = operation.op,
                   .inputs = {source_node(layer.source)},
                   .shape = placed.flat ? row(layer.dst) : image(layer.dst),
                   .details = std::move(operation.details)};
    if (std::holds_alternative<Add>(layer.layer)) {
      node.inputs.push_back(source_node(layer.other));
    }
    if (!layer.name.empty()) add_tensors(layer.name, node.inputs);
    nodes_.push_back(std::move(node));
    placed_.push_back(std::move(placed));
  }

  static Placed place_in_own_scope(const LayerInfo& layer, const std::string& op) {
    const std::string path = as_path(layer.name);
    return {.node = path + "/" + op, .scope = scope_of(path)};
  }

  /// A ReLU, a GELU and a sum belong to the block they end; other layers between two
  /// blocks belong to neither.
  Placed place_among_others(std::size_t index, const std::string& name) {
    const LayerInfo& layer = layers_[index];
    std::string scope =
        layer.source == kModelInput ? "" : placed_[to_index(layer.source)].scope;
    const bool ends_block = std::holds_alternative<Relu>(layer.layer) ||
                            std::holds_alternative<Gelu>(layer.layer) ||
                            std::holds_alternative<Add>(layer.layer);
    if (!ends_block) scope = common_scope(scope, next_scope(index));
    return {.node = unused(inside(scope, name)), .scope = scope};
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

  void add_tensors(const std::string& layer, std::vector<std::string>& names) {
    for (const Layout& layout : layouts_) {
      for (const Segment& segment : layout.segments()) {
        if (!belongs_to(segment, layer)) continue;
        names.push_back(as_path(segment.name));
        nodes_.push_back({.name = names.back(),
                          .op = "VariableV2",
                          .shape = {segment.shape.begin(), segment.shape.end()}});
      }
    }
  }

  static bool belongs_to(const Segment& segment, const std::string& layer) {
    return segment.name.substr(0, segment.name.rfind('.')) == layer;
  }

  bool gives_rows(const LayerInfo& layer) const {
    if (std::holds_alternative<Linear>(layer.layer)) return true;
    if (std::holds_alternative<Flatten>(layer.layer)) return true;
    return layer.source != kModelInput && placed_[to_index(layer.source)].flat;
  }

  std::string source_node(LayerIndex source) const {
    return source == kModelInput ? kInput : placed_[to_index(source)].node;
  }

  static std::size_t to_index(LayerIndex layer) {
    return static_cast<std::size_t>(layer);
  }

  static std::vector<std::int64_t> image(Shape shape) {
    return {kAnyCount, shape.channels, shape.height, shape.width};
  }
  static std::vector<std::int64_t> row(Shape shape) {
    return {kAnyCount, static_cast<std::int64_t>(shape.size())};
  }

  std::vector<LayerInfo> layers_;
  Layout layouts_[2];
  std::vector<GraphNode> nodes_;
  std::vector<Placed> placed_;       // by layer
  std::map<std::string, int> used_;  // number of uses, by path
};

}  // namespace

std::vector<GraphNode> model_graph(const Model& model) {
  return GraphBuilder(model).build();
}

}  // namespace convoy
