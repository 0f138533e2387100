// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/layers/rearrange/embedding.h"

#include <gmock/gmock.h>

#include "convoy/base/error.h"
#include "convoy/network/stage_builder.h"
#include "tests/network/double_layer.h"

namespace convoy {
namespace {

const DoubleLayer<Embedding> kEmbedding("embedding", [](const Embedding& layer,
                                                        const DoubleArguments& of) {
  DoubleBatch dst(of.dst, of.samples());
  for (std::size_t row = 0; row < dst.rows(); ++row) {
    const int index = static_cast<int>(of.first().at(row, 0));
    for (int c = 0; c < layer.channels; ++c) {
      dst.at(row, c) = of.parameters[0][index * layer.channels + c];
    }
  }
  return dst;
});

/// One sample of three rows, whose indices are given, and a table of four rows of two.
class EmbeddingOf : public testing::Test {
 protected:
  void run(std::vector<float> indices) {
    indices.resize(kPack);
    const Layer layer = Embedding{"table", 4, 2};
    const std::vector<Shape> shapes = {{1, 1, 1, 3}};
    const LayerInfo info{.layer = layer,
                         .sources = {kModelInput},
                         .kind = "embedding",
                         .name = "table",
                         .sources_shapes = shapes,
                         .description = layer.kind().describe(layer, {.src = shapes})};
    const StageSpec spec{.name = "", .layers = {info}, .sources = {0}, .src = shapes};
    ArenaPlan plan;
    const StageContext context{plan, 1, 2, 0, 1, true, 0};
    const auto stage = layer.kind().make_stage(spec, context);
    plan.solve();
    Arena arena(std::move(plan));
    ThreadTeam team(2);
    const ParameterView table{table_.data(), gradient_.data()};
    const Pass pass{.team = team,
                    .kernels = best_kernel_set(),
                    .arena = arena,
                    .samples = 1,
                    .key = {},
                    .parameters = {&table, 1}};
    const Activation src{indices.data(), nullptr}, dst{dst_.data(), dst_gradient_.data()};
    stage->forward(pass, {&src, 1}, dst);
    stage->backward(pass, {&src, 1}, dst);
  }

  std::vector<float> table_ = {0, 1, 10, 11, 20, 21, 30, 31};
  std::vector<float> gradient_ = std::vector<float>(8, 99.0f);
  std::vector<float> dst_ = std::vector<float>(2 * kPack);
  std::vector<float> dst_gradient_ = std::vector<float>(2 * kPack);
};

TEST_F(EmbeddingOf, LooksEveryRowUpAndAddsTheGradientsOfEqualIndices) {
  dst_gradient_[0] = 1, dst_gradient_[1] = 2, dst_gradient_[2] = 4;  // of channel 0
  run({3, 1, 3});

  EXPECT_THAT(std::vector<float>(dst_.begin(), dst_.begin() + 4),
              testing::ElementsAre(30, 10, 30, 0));
  EXPECT_THAT(std::vector<float>(dst_.begin() + kPack, dst_.begin() + kPack + 4),
              testing::ElementsAre(31, 11, 31, 0));
  EXPECT_THAT(gradient_, testing::ElementsAre(0, 0, 2, 0, 0, 0, 5, 0));
}

TEST_F(EmbeddingOf, RefusesAnIndexThatTheTableDoesNotHave) {
  try {
    run({1, 4, 0});
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "layer table\n"
                 "  found:    index 4 in row 1\n"
                 "  expected: an index below 4\n"
                 "  hint:     a table needs one row per index that the data has");
  }
}

}  // namespace
}  // namespace convoy
