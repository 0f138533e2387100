// SPDX-License-Identifier: Apache-2.0

#include "convoy/monitor/model_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "convoy/models/models.h"
#include "convoy/system/temporary_folder.h"
#include "tests/events/read_events.h"

namespace convoy {
namespace {

using nlohmann::json;
using testing::ElementsAre;

const GraphNode& find(const std::vector<GraphNode>& nodes, const std::string& name) {
  const auto found = std::ranges::find(nodes, name, &GraphNode::name);
  if (found == nodes.end()) throw std::out_of_range("no node " + name);
  return *found;
}

std::vector<GraphNode> graph_of(const std::string& model) {
  const ModelEntry& entry = find_model(model);
  return model_graph(entry.make(entry.usual_input, 10));
}

/// A layer's name as a scope.
std::string scope(std::string name) {
  std::ranges::replace(name, '.', '/');
  return name;
}

/// The operation in the scope of a layer with a name.
const json* operation_of(const json& nodes, const std::string& layer) {
  for (const json& node : nodes) {
    const std::string name = node.at("name");
    if (name.starts_with(scope(layer) + "/") && node.at("op") != "VariableV2" &&
        name.find('/', layer.size() + 1) == std::string::npos) {
      return &node;
    }
  }
  return nullptr;
}

class ModelGraph : public testing::TestWithParam<std::string> {
 protected:
  ModelGraph()
      : entry(find_model(GetParam())), model(entry.make(entry.usual_input, 10)) {}

  /// As a reader finds it in a file.
  json written() const {
    const TemporaryFolder here;
    EventWriter(here.path()).graph(model_graph(model));
    return read_events(here.path()).back().at("graph");
  }

  const ModelEntry& entry;
  const Model model;
};

/// As PyTorch has it.
json expected_shape(const LayerInfo& layer) {
  const Shape dst = layer.dst();
  if (dst.rows > 1) return {-1, dst.rows, dst.channels};
  if (layer.kind == "linear" || layer.kind == "layer_norm") return {-1, dst.channels};
  return {-1, dst.channels, dst.height, dst.width};
}

TEST_P(ModelGraph, HasEveryLayerWithNameAndShape) {
  const json nodes = written();
  std::size_t layers = 0;
  for (const LayerInfo& layer : describe(model)) {
    ++layers;
    if (layer.name.empty()) continue;
    const json* node = operation_of(nodes, layer.name);
    ASSERT_NE(node, nullptr) << layer.name;
    EXPECT_EQ(node->at("attributes").at("_output_shapes"),
              json::array({expected_shape(layer)}));
  }
  const auto is_layer = [](const json& node) {
    return node.at("op") != "VariableV2" && node.at("op") != "Placeholder";
  };
  EXPECT_EQ(static_cast<std::size_t>(std::ranges::count_if(nodes, is_layer)), layers);
}

TEST_P(ModelGraph, HasEveryTensorWithItsShape) {
  const json nodes = written();
  std::size_t tensors = 0;
  for (const Layout& layout : {build_layout(model), build_statistics_layout(model)}) {
    for (const Segment& segment : layout.segments()) {
      ++tensors;
      const auto node = std::ranges::find_if(nodes, [&](const json& each) {
        return each.at("name") == scope(segment.name);
      });
      ASSERT_NE(node, nodes.end()) << segment.name;
      EXPECT_EQ(node->at("op"), "VariableV2");
      EXPECT_EQ(node->at("attributes").at("shape"), json(segment.shape));
    }
  }
  EXPECT_EQ(static_cast<std::size_t>(std::ranges::count_if(
                nodes, [](const json& each) { return each.at("op") == "VariableV2"; })),
            tensors);
}

TEST_P(ModelGraph, HasNamesThatAreUniqueAndEdgesFromNodesBefore) {
  std::set<std::string> names, used;
  for (const GraphNode& node : model_graph(model)) {
    for (const std::string& input : node.inputs) {
      EXPECT_TRUE(names.contains(input)) << node.name << " takes " << input;
      used.insert(input);
    }
    EXPECT_TRUE(names.insert(node.name).second) << node.name << " is there twice";
  }
  EXPECT_EQ(used.size() + 1, names.size()) << "all but the last are taken by some node";
}

INSTANTIATE_TEST_SUITE_P(Every, ModelGraph, testing::ValuesIn(model_names()),
                         [](const auto& info) { return info.param; });

TEST(GraphOfAModel, FollowsItsLayers) {
  const std::vector<GraphNode> nodes = graph_of("lenet5");

  EXPECT_EQ(nodes.front().op, "Placeholder");
  EXPECT_THAT(nodes.front().shape, ElementsAre(-1, 1, 28, 28));
  EXPECT_THAT(find(nodes, "conv1/Conv2D").inputs,
              ElementsAre("input", "conv1/weight", "conv1/bias"));
  EXPECT_EQ(find(nodes, "conv1/Conv2D").details.at("padding"), "2");
  EXPECT_THAT(find(nodes, "relu").inputs, ElementsAre("conv1/Conv2D"));
  EXPECT_THAT(find(nodes, "max_pool_1").inputs, ElementsAre("relu_1"));
  EXPECT_THAT(find(nodes, "flatten").shape, ElementsAre(-1, 400));
  EXPECT_THAT(find(nodes, "relu_2").shape, ElementsAre(-1, 120));
  EXPECT_EQ(nodes.back().name, "fc3/MatMul");
}

TEST(GraphOfAModel, AddsBothWaysOfAResidual) {
  const std::vector<GraphNode> nodes = graph_of("resnet18");

  EXPECT_THAT(find(nodes, "layer1/0/add").inputs,
              ElementsAre("layer1/0/bn2/BatchNorm", "max_pool"));
  EXPECT_THAT(find(nodes, "layer2/0/add").inputs,
              ElementsAre("layer2/0/bn2/BatchNorm", "layer2/0/downsample/1/BatchNorm"));
  EXPECT_THAT(find(nodes, "layer1/0/relu_1").inputs, ElementsAre("layer1/0/add"))
      << "the block's own";
}

TEST(GraphOfAModel, KeepsWhatIsBetweenBlocksOutOfThem) {
  const std::vector<GraphNode> nodes = graph_of("resnet18");
  EXPECT_THAT(find(nodes, "avg_pool").inputs, ElementsAre("layer4/1/relu_1"));

  EXPECT_THAT(find(graph_of("vgg11"), "layers/max_pool").shape,
              ElementsAre(-1, 64, 16, 16));
}

TEST(GraphOfAModel, HasRunningStatistics) {
  EXPECT_THAT(find(graph_of("resnet18"), "bn1/BatchNorm").inputs,
              ElementsAre("conv1/Conv2D", "bn1/weight", "bn1/bias", "bn1/running_mean",
                          "bn1/running_var"));
}

}  // namespace
}  // namespace convoy
