// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/layers/add.h"

#include <algorithm>

#include "convoy/network/kernels/point/epilogue.h"
#include "convoy/network/layers/point/broadcast.h"
#include "convoy/network/layers/relu.h"
#include "convoy/network/stage_builder.h"

namespace convoy {
namespace {

/// The sum of two branches of one shape, and the ReLU that may follow it.
class AddStage final : public Stage {
 public:
  AddStage(Shape shape, bool relu) : shape_(shape), relu_(relu) {}

  void forward(const Pass& pass, Activations src, const Activation& dst) override {
    for_numbers(pass, shape_, [&](std::size_t from, std::size_t size) {
      Piece a, b, c;
      float* to = dst.values.target(from, c.numbers);
      epilogue_kernels(pass.kernels)
          .scale_shift({.src = src[0].values.read(from, size, a.numbers),
                        .scale = 1,
                        .shift = 0,
                        .residual = src[1].values.read(from, size, b.numbers),
                        .clamp_min = relu_ ? 0 : kNoClamp,
                        .dst = to,
                        .size = size});
      dst.values.store(from, size, to);
    });
  }

  void backward(const Pass& pass, Activations src, const Activation& dst) override {
    for_numbers(pass, shape_, [&](std::size_t from, std::size_t size) {
      Piece a, b;
      float* gradient = dst.gradient.edit(from, size, a.numbers);
      if (relu_) {
        epilogue_kernels(pass.kernels)
            .mask_by_sign({gradient, dst.values.read(from, size, b.numbers), size});
      }
      for (const Activation& to : src) {
        if (to.gradient != nullptr) to.gradient.copy_from(gradient, size, from);
      }
    });
  }

  bool backward_reads_src(std::size_t) const override { return false; }
  bool backward_reads_dst() const override { return relu_; }
  bool takes_stored() const override { return true; }

 private:
  Shape shape_;
  bool relu_;
};

class AddKind final : public KindOf<Add, AddKind> {
 public:
  AddKind()
      : KindOf({.name = "add",
                .operation = "Add",
                .least_sources = 2,
                .most_sources = 2,
                .ends_block = true}) {}

  static LayerDescription describe_options(const Add&, const LayerContext& context) {
    const Broadcast checked("add", context.src[0], context.src[1]);
    return {.dst = checked.whole()};
  }
  bool joins(const StageSpec& stage, const LayerInfo& next) const override {
    const bool same = stage.src[0] == stage.src[1];
    return same && stage.joined<Relu>() == nullptr &&
           next.layer.get_if<Relu>() != nullptr;
  }
  std::unique_ptr<Stage> make_stage(const StageSpec& spec,
                                    const StageContext& context) const override {
    const Broadcast broadcast("add", spec.src[0], spec.src[1]);
    if (!broadcast.same()) {
      return make_broadcast_stage(context, broadcast, BroadcastOperation::add);
    }
    return std::make_unique<AddStage>(spec.src[0], spec.joined<Relu>() != nullptr);
  }
  std::vector<LayerExample> examples() const override {
    return broadcast_examples(Add{});
  }
};

const Registered<AddKind> kAdd;

}  // namespace
}  // namespace convoy
