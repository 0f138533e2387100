// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/layers/gelu.h"

#include "convoy/network/stage_builder.h"

namespace convoy {
namespace {

class GeluStage final : public Stage {
 public:
  explicit GeluStage(Shape shape)
      : shape_(shape),
        plane_(shape.pixels() * kPack),
        planes_(static_cast<std::size_t>(shape.channels)) {}

  void forward(const Pass& pass, Activations src, const Activation& dst) override {
    pass.team.run(pass.packs(shape_) * planes_, [&](std::size_t plane, int) {
      const std::size_t from = plane * plane_;
      pass.kernels.gelu(src[0].values + from, dst.values + from, plane_);
    });
  }

  void backward(const Pass& pass, Activations src, const Activation& dst) override {
    if (src[0].gradient == nullptr) return;
    pass.team.run(pass.packs(shape_) * planes_, [&](std::size_t plane, int) {
      const std::size_t from = plane * plane_;
      pass.kernels.gelu_gradient(src[0].values + from, dst.gradient + from,
                                 src[0].gradient + from, plane_);
    });
  }

  bool backward_reads_src(std::size_t) const override { return true; }
  bool backward_reads_dst() const override { return false; }

 private:
  Shape shape_;
  std::size_t plane_;   // one channel of a pack
  std::size_t planes_;  // of a pack
};

class GeluKind final : public KindOf<Gelu, GeluKind> {
 public:
  GeluKind() : KindOf({.name = "gelu", .operation = "Gelu", .ends_block = true}) {}

  static LayerDescription describe_options(const Gelu&, const LayerContext& context) {
    return {.dst = context.first()};
  }
  std::unique_ptr<Stage> make_stage(const StageSpec& spec,
                                    const StageContext&) const override {
    return std::make_unique<GeluStage>(spec.src[0]);
  }
  std::vector<LayerExample> examples() const override {
    return {{"OfImages", Gelu{}, {{3, 5, 4}}}, {"OfTokens", Gelu{}, {{7, 1, 1, 5}}}};
  }
};

const Registered<GeluKind> kGelu;

}  // namespace
}  // namespace convoy
