// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/layers/relu.h"

#include <algorithm>

#include "convoy/network/kernels/point/epilogue.h"
#include "convoy/network/stage_builder.h"

namespace convoy {
namespace {

/// A ReLU that no other stage includes.
class ReluStage final : public Stage {
 public:
  explicit ReluStage(Shape shape) : shape_(shape), size_(pack_floats(shape)) {}

  void forward(const Pass& pass, Activations src, const Activation& dst) override {
    pass.team.run(pass.packs(shape_), [&](std::size_t pack, int) {
      const float* from = src[0].values + pack * size_;
      std::transform(from, from + size_, dst.values + pack * size_,
                     [](float value) { return value < 0 ? 0.0f : value; });
    });
  }

  void backward(const Pass& pass, Activations src, const Activation& dst) override {
    if (src[0].gradient == nullptr) return;
    pass.team.run(pass.packs(shape_), [&](std::size_t pack, int) {
      const std::size_t from = pack * size_;
      std::copy_n(dst.gradient + from, size_, src[0].gradient + from);
      epilogue_kernels(pass.kernels)
          .mask_by_sign({src[0].gradient + from, dst.values + from, size_});
    });
  }

  bool backward_reads_src(std::size_t) const override { return false; }
  bool backward_reads_dst() const override { return true; }

 private:
  Shape shape_;
  std::size_t size_;  // of one pack
};

class ReluKind final : public KindOf<Relu, ReluKind> {
 public:
  ReluKind() : KindOf({.name = "relu", .operation = "Relu", .ends_block = true}) {}

  static LayerDescription describe_options(const Relu&, const LayerContext& context) {
    return {.dst = context.first()};
  }
  std::unique_ptr<Stage> make_stage(const StageSpec& spec,
                                    const StageContext&) const override {
    return std::make_unique<ReluStage>(spec.src[0]);
  }
  std::vector<LayerExample> examples() const override {
    return {{"OfImages", Relu{}, {{3, 5, 4}}}, {"OfTokens", Relu{}, {{7, 1, 1, 5}}}};
  }
};

const Registered<ReluKind> kRelu;

}  // namespace
}  // namespace convoy
