// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/layers/position_embedding.h"

#include <algorithm>

#include "convoy/network/row_copy.h"
#include "convoy/network/stage_builder.h"

namespace convoy {
namespace {

class PositionEmbeddingStage final : public Stage {
 public:
  explicit PositionEmbeddingStage(Shape shape)
      : shape_(shape), tokens_(static_cast<std::size_t>(shape.rows)) {}

  void forward(const Pass& pass, Activations src, const Activation& dst) override {
    const std::size_t features = shape_.features(), rows = pass.rows(shape_);
    const float* table = pass.parameters[0].values;
    pass.team.run(pass.packs(shape_), [&](std::size_t pack, int) {
      const std::size_t lanes = std::min<std::size_t>(kPack, rows - pack * kPack);
      const float* from = src[0].values + pack * features * kPack;
      float* to = dst.values + pack * features * kPack;
      std::copy_n(from, features * kPack, to);
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const float* position = table + (pack * kPack + lane) % tokens_ * features;
        for (std::size_t f = 0; f < features; ++f) to[f * kPack + lane] += position[f];
      }
    });
  }

  void backward(const Pass& pass, Activations src, const Activation& dst) override {
    if (src[0].gradient != nullptr) {
      src[0].gradient.copy_from(dst.gradient, pass.packs(shape_) * pack_floats(shape_),
                                0);
    }
    float* table = pass.parameters[0].gradient;
    if (table == nullptr) return;
    const std::size_t features = shape_.features();
    // One token per task, its samples in order.
    pass.team.run(tokens_, [&](std::size_t token, int) {
      float* sums = table + token * features;
      std::fill_n(sums, features, 0.0f);
      for (std::size_t sample = 0; sample < pass.samples; ++sample) {
        const float* from = dst.gradient + row_offset(sample * tokens_ + token, features);
        for (std::size_t f = 0; f < features; ++f) sums[f] += from[f * kPack];
      }
    });
  }

  bool backward_reads_src(std::size_t) const override { return false; }
  bool backward_reads_dst() const override { return false; }

 private:
  Shape shape_;
  std::size_t tokens_;
};

class PositionEmbeddingKind final
    : public KindOf<PositionEmbedding, PositionEmbeddingKind> {
 public:
  PositionEmbeddingKind() : KindOf({.name = "position_embedding", .operation = "Add"}) {}

  static LayerDescription describe_options(const PositionEmbedding& layer,
                                           const LayerContext& context) {
    const Shape src = context.first();
    return {.dst = src,
            .parameters = {{layer.name,
                            {1, static_cast<std::size_t>(src.rows), src.features()},
                            Role::embedding,
                            Initialization::normal(0.02f)}}};
  }
  std::unique_ptr<Stage> make_stage(const StageSpec& spec,
                                    const StageContext&) const override {
    return std::make_unique<PositionEmbeddingStage>(spec.src[0]);
  }
  std::vector<LayerExample> examples() const override {
    return {{"OfTokens", PositionEmbedding{}, {{7, 1, 1, 5}}},
            {"OfManyTokens", PositionEmbedding{}, {{3, 1, 1, 35}}}};
  }
};

const Registered<PositionEmbeddingKind> kPositionEmbedding;

}  // namespace
}  // namespace convoy
