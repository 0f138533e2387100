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
  explicit ReluStage(Shape shape) : shape_(shape) {}

  void forward(const Pass& pass, Activations src, const Activation& dst) override {
    for_numbers(pass, shape_, [&](std::size_t from, std::size_t size) {
      Piece a, b;
      const float* values = src[0].values.read(from, size, a.numbers);
      float* to = dst.values.target(from, b.numbers);
      std::transform(values, values + size, to,
                     [](float value) { return value < 0 ? 0.0f : value; });
      dst.values.store(from, size, to);
    });
  }

  void backward(const Pass& pass, Activations src, const Activation& dst) override {
    if (src[0].gradient == nullptr) return;
    for_numbers(pass, shape_, [&](std::size_t from, std::size_t size) {
      Piece a, b;
      float* gradient = src[0].gradient.target(from, a.numbers);
      std::copy_n(dst.gradient.read(from, size, b.numbers), size, gradient);
      epilogue_kernels(pass.kernels)
          .mask_by_sign({gradient, dst.values.read(from, size, b.numbers), size});
      src[0].gradient.store(from, size, gradient);
    });
  }

  bool backward_reads_src(std::size_t) const override { return false; }
  bool backward_reads_dst() const override { return true; }
  bool takes_stored() const override { return true; }

 private:
  Shape shape_;
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
