// SPDX-License-Identifier: Apache-2.0

#include "convoy/checkpoint/position_resize.h"

#include <gtest/gtest.h>

#include "convoy/base/random.h"
#include "convoy/checkpoint/foreign_names.h"
#include "tests/ask_torch.h"

namespace convoy {
namespace {

struct ResizeCase {
  std::size_t from, to;
};

class PositionResize : public testing::TestWithParam<ResizeCase> {};

TEST_P(PositionResize, IsPyTorchsBicubicInterpolation) {
  constexpr std::size_t kChannels = 3;
  const auto [from, to] = GetParam();
  const RandomStream random(/*seed=*/1, RngStream::synthetic, 0);
  std::vector<float> positions((from * from + 1) * kChannels);
  for (std::size_t i = 0; i < positions.size(); ++i) positions[i] = random.normal(i);
  std::vector<float> resized((to * to + 1) * kChannels);

  resize_positions(positions, resized, kChannels);

  const nlohmann::json expected = ask_torch(
      "checkpoint/torch_positions.py",
      {{"positions", positions}, {"from", from}, {"to", to}, {"channels", kChannels}});
  ASSERT_EQ(expected.size(), resized.size());
  for (std::size_t i = 0; i < resized.size(); ++i) {
    EXPECT_NEAR(resized[i], expected[i].get<float>(), 1e-5) << "element " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Grids, PositionResize,
                         testing::Values(ResizeCase{7, 14}, ResizeCase{14, 7},
                                         ResizeCase{7, 8}, ResizeCase{7, 1},
                                         ResizeCase{1, 3}),
                         [](const auto& info) {
                           return std::to_string(info.param.from) + "To" +
                                  std::to_string(info.param.to);
                         });

TEST(CanResizePositions, NeedsAClassTokenAndASquareGridInBoth) {
  EXPECT_TRUE(can_resize_positions({1, 50, 8}, {1, 197, 8}));
  EXPECT_FALSE(can_resize_positions({1, 50, 8}, {1, 197, 16})) << "other channels";
  EXPECT_FALSE(can_resize_positions({1, 51, 8}, {1, 197, 8})) << "no square";
  EXPECT_FALSE(can_resize_positions({50, 8}, {1, 197, 8})) << "another tensor";
}

TEST(OwnName, RemovesWhatWrappersPutBeforeIt) {
  EXPECT_EQ(own_name("module.model.conv1.weight"), "conv1.weight");
  EXPECT_EQ(own_name("_orig_mod.fc.bias"), "fc.bias");
}

TEST(OwnName, IsTimmsForTorchvisionsTransformers) {
  EXPECT_EQ(own_name("class_token"), "cls_token");
  EXPECT_EQ(own_name("conv_proj.weight"), "patch_embed.proj.weight");
  EXPECT_EQ(own_name("encoder.pos_embedding"), "pos_embed");
  EXPECT_EQ(own_name("encoder.ln.bias"), "norm.bias");
  EXPECT_EQ(own_name("heads.head.weight"), "head.weight");
  const std::string block = "encoder.layers.encoder_layer_11.";
  EXPECT_EQ(own_name(block + "ln_1.weight"), "blocks.11.norm1.weight");
  EXPECT_EQ(own_name(block + "self_attention.in_proj_weight"),
            "blocks.11.attn.qkv.weight");
  EXPECT_EQ(own_name(block + "self_attention.out_proj.bias"), "blocks.11.attn.proj.bias");
  EXPECT_EQ(own_name(block + "mlp.0.weight"), "blocks.11.mlp.fc1.weight");
  EXPECT_EQ(own_name(block + "mlp.linear_2.bias"), "blocks.11.mlp.fc2.bias");
}

TEST(OwnName, LeavesOtherNames) {
  EXPECT_EQ(own_name("layer1.0.conv1.weight"), "layer1.0.conv1.weight");
  EXPECT_EQ(own_name("encoder.layers.encoder_layer_3"), "encoder.layers.encoder_layer_3");
}

}  // namespace
}  // namespace convoy
